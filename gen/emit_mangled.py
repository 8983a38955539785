# SPDX-License-Identifier: MIT
"""Emit the types of arguments with the names that C++'s typeid() gives them, for users of
rocprofiler-sdk. The names are data, because the library is written in C.

The name of a type comes from its tag, which a description does not contain. TAGS lists the types
whose tags differ from their names."""
from emit_taps import head

BASIC = {
    'void': 'v', 'char': 'c', 'bool': 'b', 'uchar': 'h', 'uint8_t': 'h', 'ushort': 't',
    'uint16_t': 't', 'int': 'i', 'int32_t': 'i', 'uint': 'j', 'uint32_t': 'j', 'size_t': 'm',
    'uint64_t': 'm', 'int64_t': 'l', 'ulonglong': 'y', 'float': 'f'
}
SPELLED = {'int': 'i', 'unsigned int': 'j', 'unsigned long long': 'y'}
TAGS = {
    'GLenum': 'j', 'GLuint': 'j', 'hipDevice_t': 'i', 'mscclAlgoHandle_t': 'i', 'hsa_file_t': 'i',
    'hsa_signal_value_t': 'l', 'hsa_queue_type32_t': 'j', 'roctx_range_id_t': 'm',
    'roctx_thread_id_t': 'm', 'hsa_extension_t': 't', 'hsa_ext_module_t': 'P16BrigModuleHeader',
    'hipDeviceptr_t': 'Pv', 'hipExternalMemory_t': 'Pv', 'hipExternalSemaphore_t': 'Pv',
    'uint3': '15HIP_vector_typeIjLj3EE', 'hipHostFn_t': 'PFvPvE',
    'hipStreamCallback_t': 'PFvP12ihipStream_t10hipError_tPvE',
    'hsa_amd_deallocation_callback_t': 'PFvPvS_E', 'hsa_amd_signal_handler': 'PFblPvE',
    'hsa_amd_system_event_callback_t': 'PF12hsa_status_tPK15hsa_amd_event_sPvE',
    'hsa_amd_queue_intercept_handler': 'PFvPKvmmPvPFvS0_mEE',
    'hsa_amd_runtime_queue_notifier': 'PFvPK11hsa_queue_s11hsa_agent_sPvE'
}
POINTERS = {
    'hipArray_t': 'hipArray', 'hipArray_const_t': '+hipArray', 'hipCtx_t': 'ihipCtx_t',
    'hipEvent_t': 'ihipEvent_t', 'hipFunction_t': 'ihipModuleSymbol_t',
    'hipGraphExec_t': 'hipGraphExec', 'hipGraphNode_t': 'hipGraphNode', 'hipGraph_t': 'ihipGraph',
    'hipGraphicsResource_t': '_hipGraphicsResource',
    'hipMemGenericAllocationHandle_t': 'ihipMemGenericAllocationHandle',
    'hipMemPool_t': 'ihipMemPoolHandle_t', 'hipMipmappedArray_t': 'hipMipmappedArray',
    'hipMipmappedArray_const_t': '+hipMipmappedArray', 'hipModule_t': 'ihipModule_t',
    'hipStream_t': 'ihipStream_t', 'hipSurfaceObject_t': '__hip_surface',
    'hipTextureObject_t': '__hip_texture', 'hipUserObject_t': 'hipUserObject',
    'hiprtcProgram': '_hiprtcProgram', 'ncclComm_t': 'ncclComm'
}
STRUCTS = {
    'hipGraphicsResource': '_hipGraphicsResource', 'hipIpcEventHandle_t': 'hipIpcEventHandle_st',
    'hipIpcMemHandle_t': 'hipIpcMemHandle_st', 'hipLaunchParams': 'hipLaunchParams_t',
    'hipUUID': 'hipUUID_t', 'hipFunctionLaunchParams': 'hipFunctionLaunchParams_t',
    'hsa_amd_ipc_signal_t': 'hsa_amd_ipc_memory_s',
    'hsa_amd_coherency_type_t': 'hsa_amd_coherency_type_s',
    'hsa_amd_queue_priority_t': 'hsa_amd_queue_priority_s',
    'hsa_amd_sdma_engine_id_t': 'hsa_amd_sdma_engine_id', 'ncclConfig_t': 'ncclConfig_v21700'
}
WITH_ST = ('HIP_RESOURCE_DESC', 'HIP_RESOURCE_VIEW_DESC', 'HIP_TEXTURE_DESC',
           'hipExternalMemoryBufferDesc', 'hipExternalMemoryHandleDesc',
           'hipExternalMemoryMipmappedArrayDesc', 'hipExternalSemaphoreHandleDesc',
           'hipExternalSemaphoreSignalParams', 'hipExternalSemaphoreWaitParams')
# Callback types that the prototype spells out: return type, and the parameters before the user's
# pointer.
RETURN_STATUS = {
    'hsa_iterate_agents': '11hsa_agent_s',
    'hsa_agent_iterate_caches': '11hsa_cache_s',
    'hsa_agent_iterate_isas': '9hsa_isa_s',
    'hsa_agent_iterate_regions': '12hsa_region_s',
    'hsa_isa_iterate_wavefronts': '15hsa_wavefront_s',
    'hsa_code_object_iterate_symbols': '17hsa_code_object_s17hsa_code_symbol_s',
    'hsa_executable_iterate_symbols': '16hsa_executable_s23hsa_executable_symbol_s',
    'hsa_executable_iterate_agent_symbols': (
        '16hsa_executable_s11hsa_agent_s23hsa_executable_symbol_s'
    ),
    'hsa_executable_iterate_program_symbols': '16hsa_executable_s23hsa_executable_symbol_s',
    'hsa_amd_agent_iterate_memory_pools': '21hsa_amd_memory_pool_s',
    'hsa_code_object_serialize': 'm19hsa_callback_data_sP',
    'hsa_ext_program_iterate_modules': '17hsa_ext_program_sP16BrigModuleHeader',
}
OTHER = {'hsa_amd_async_function': 'PFvPvE', 'hsa_amd_pointer_info': 'PFPvmE'}
WHOLE = {('hsa_amd_signal_value_pointer', 'value_ptr'): 'PPVl'}


def named(name):
    return f'{len(name)}{name}'


def function(op):
    if op.name in RETURN_STATUS:
        return f'PF12hsa_status_t{RETURN_STATUS[op.name]}PvE'
    if op.name in OTHER:
        return OTHER[op.name]
    return 'PFv12hsa_status_tP11hsa_queue_sPvE'


def base(op, t):
    if t.name == 'function':
        return function(op)
    if t.name in POINTERS:
        tag = POINTERS[t.name]
        return 'PK' + named(tag[1:]) if tag[0] == '+' else 'P' + named(tag)
    if t.name in BASIC or t.name in TAGS:
        return BASIC.get(t.name) or TAGS[t.name]
    # parameters that are plain integers, with names for readers
    if (
        t.cls == 'flags'
        and t.c in SPELLED
        and t.name != 'hsa_amd_sdma_engine_id_t'
        or t.cls == 'enum'
        and t.name.endswith('Flags')
        and t.name != 'hipMemAccessFlags'
    ):
        return SPELLED[t.c]
    if t.name in WITH_ST:
        return named(t.name + '_st')
    opaque = t.name.startswith('hsa_') and t.cls in ('handle', 'void',
                                                     'struct') and t.name.endswith('_t')
    return named(STRUCTS.get(t.name) or (t.name[:-1] + 's' if opaque else t.name))


def mangled_type(op, a):
    if a.type.name == 'dim3' and not a.stars:
        return '18rocprofiler_dim3_t'
    return WHOLE.get(
        (op.name,
         a.shown)) or 'P' * a.stars + ('K' if a.const and a.stars else '') + base(op, a.type)


def mangled(api):
    """generated/<domain>_mangled.inc: argument types of each operation, each ended by NUL, and
    their offsets"""
    if not api.typeid:
        return []
    out, rows, at = [head(api, 'emit_mangled.py'),
                     f'static const char mangled_{api.domain}[] ='], [], 0
    for op in api.real():
        types = [mangled_type(op, a) for a in op.args]
        if types:
            out.append('\t' + ' '.join(f'"{t}\\0"' for t in types))
            rows.append(f'\t[{op.number}] = {at + 1},')
            at += sum(len(t) + 1 for t in types)
    out[-1] += ';'
    return '\n'.join(out + [
        '', '/* 1 + the first one\'s place; 0: no arguments */',
        f'static const uint16_t mangled_{api.domain}_at[] = {{'
    ] + rows + ['};']) + '\n'
