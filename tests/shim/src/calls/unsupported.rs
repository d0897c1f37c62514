//! Functions that a linker asks for because the crates `cust` and `cust_raw` name them, and that this library does not
//! carry out: each answers `CUDA_ERROR_NOT_SUPPORTED`, whatever its arguments, which it does not look at.

use crate::codes::Code;

macro_rules! unsupported {
    ($($name:ident)+) => {
        driver! {
            $(fn $name() { Err(Code::NOT_SUPPORTED) })+
        }
    };
}

unsupported! {
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy
    cuCtxDisablePeerAccess cuCtxGetCacheConfig cuCtxGetLimit cuCtxGetSharedMemConfig cuCtxSetLimit
    cuDestroyExternalMemory cuExternalMemoryGetMappedBuffer cuImportExternalMemory
    cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool cuDeviceGetP2PAttribute
    cuGraphAddKernelNode_v2 cuGraphAddKernelNode cuGraphCreate cuGraphDebugDotPrint cuGraphExecDestroy
    cuGraphGetEdges cuGraphGetNodes cuGraphInstantiate cuGraphInstantiate_v2 cuGraphKernelNodeGetParams
    cuGraphLaunch cuGraphNodeGetType cuGraphUpload
    cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
    cuMemAdvise cuMemAllocAsync cuMemAllocFromPoolAsync cuMemAllocManaged cuMemFreeAsync cuMemPrefetchAsync
    cuMemHostGetDevicePointer_v2 cuMemHostGetFlags cuMemHostRegister_v2 cuMemHostUnregister
    cuMemPoolCreate cuMemPoolDestroy cuMemPoolTrimTo cuMemPoolSetAttribute cuMemPoolGetAttribute
    cuMemcpyAtoH_v2 cuMemcpyHtoA_v2 cuMemcpyPeer cuMemcpy3DPeer cuMemcpy3DPeerAsync
    cuModuleGetSurfRef cuModuleGetTexRef cuModuleLoadFatBinary
    cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSize
    cuPointerGetAttribute cuPointerGetAttributes cuLaunchCooperativeKernel cuLaunchKernelEx
    cuStreamAddCallback cuStreamAttachMemAsync cuStreamGetCtx
    cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
    cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
    cuTexObjectGetTextureDesc
}
