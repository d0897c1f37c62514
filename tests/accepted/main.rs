//! What to write instead of each program in `tests/refused/`: a program under the same name that compiles and, as a test,
//! runs. Each is a whole program; they are one binary here only because that is built faster.

use std::process::Termination;

macro_rules! programs {
    ($($name:ident)+) => {
        $(mod $name;)+

        $(
            #[test]
            fn $name() -> impl Termination {
                $name::main()
            }
        )+

        const PROGRAMS: &[&str] = &[$(stringify!($name)),+];
    };
}

programs! {
    a01_array_returned_from_with
    a01_array_stored_in_outer_variable
    a01_buffer_returned_from_with
    a01_kept_beyond_alloc_pitched
    a01_sent_to_thread_spawn
    a01_stored_in_outer_variable
    a02_reset_while_array_lives
    a02_reset_while_buffer_lives
    a02_reset_while_event_lives
    a02_reset_while_kernel_lives
    a02_reset_while_module_lives
    a02_reset_while_scope_open
    a02_reset_while_stream_lives
    a03_buffer_to_another_copy
    a03_buffer_to_another_kernel
    a03_buffer_to_another_stream
    a03_buffer_with_another_context
    a03_kernel_on_another_device
    a04_swap_arrays_of_two_scopes
    a04_swap_pitched_arrays_of_two_scopes
    a04_swap_two_contexts
    a04_swap_two_open_devices
    a05_one_array_read_and_written
    a05_one_buffer_read_and_written
    a05_overlapping_mutable_rows
    a05_overlapping_mutable_views
    a06_copy_from_a_temporary
    a06_host_slice_changed
    a06_host_slice_dropped
    a06_host_slice_moved
    a06_host_slice_read_before_its_copy
    a07_slice_in_a_signature
    a07_too_few_arguments
    a07_too_many_arguments
    a07_wrong_element_type
    a07_wrong_integer_width
    a07_wrong_mutability
    a07_wrong_scalar_width
    a08_kernel_after_its_scope
    a08_module_after_its_scope
    a09_bool_elements
    a09_reference_elements
    a09_string_elements
    a10_array_scope_shortened
    a10_buffer_shortened
    a10_context_lengthened
    a10_context_shortened
    b_argument_implemented_outside
    b_array_cloned
    b_array_of_outer_context_in_inner
    b_array_sent_to_older_thread_scope
    b_buffer_in_a_panic
    b_buffer_in_an_error
    b_buffer_leaked_for_ever
    b_buffers_in_an_outer_cycle
    b_context_in_thread_local
    b_context_leaves_scope
    b_context_sent_to_older_thread_scope
    b_default_device_reset
    b_device_dropped_while_open
    b_device_replaced_while_open
    b_each_swapped_with_outer
    b_element_that_is_not_plain
    b_event_leaves_context
    b_event_of_another_device
    b_host_slice_as_argument
    b_info_outlives_scope
    b_local_array_inside_streams
    b_mutable_view_copied
    b_mutable_view_from_shared_array
    b_mutable_view_used_while_lent
    b_padded_elements
    b_parameter_implemented_outside
    b_pending_after_its_streams
    b_pending_waited_for_twice
    b_pinned_inside_streams
    b_pinned_leaves_its_closure
    b_pinned_slice_leaves_its_closure
    b_readable_implemented_outside
    b_spec_implemented_outside
    b_specs_implemented_outside
    b_stream_kept_outside
    b_stream_leaves_streams
    b_streams_kept_outside
    b_unchecked_launch_without_unsafe
    b_view_outlives_array
    b_view_outlives_buffer
    b_view_swapped_into_outer_view
    b_writable_implemented_outside
}

#[test]
fn every_refused_program_has_a_twin() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refused");
    let refused: std::collections::BTreeSet<_> = std::fs::read_dir(directory)
        .expect("the directory is there")
        .map(|entry| entry.expect("the directory is readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    assert_eq!(refused, PROGRAMS.iter().map(|name| (*name).to_owned()).collect());
}
