# SPDX-License-Identifier: MIT
"""Emit parts of the headers that are compatible with rocprofiler-sdk
(include/compat/rocprofiler-sdk): operation ids, a struct of arguments for each operation, the
runtimes' tables. Also emit the argument names that differ in the SDK, for our library of the same
name."""
import textwrap

from emit_taps import head

# Public headers use the runtime's type names. For some types, descriptions use names for readers
# ("hipStreamFlags", "uint"); the headers spell these as the underlying types.
SPELLED = ('integer', 'flags')
ELABORATED = {
    'hipLimit_t': 'enum', 'hipTextureAddressMode': 'enum', 'hipTextureFilterMode': 'enum',
    'hipResourceViewDesc': 'struct', 'hipMipmappedArray': 'struct', 'hsa_agent_s': 'struct',
    'ihipStream_t': 'struct', 'hipResourceViewDesc_st': 'struct'
}
# Files of a domain: folder, prefix of ids, LAST.
FOLDERS = {
    'hip': ('hip', 'runtime', 'HIP_RUNTIME'), 'hip_compiler': ('hip', 'compiler', 'HIP_COMPILER'),
    'hsa_core': ('hsa', 'core', 'HSA_CORE'), 'hsa_amd_ext': ('hsa', 'amd_ext', 'HSA_AMD_EXT'),
    'hsa_image_ext': ('hsa', 'image_ext', 'HSA_IMAGE_EXT'),
    'hsa_finalize_ext': ('hsa', 'finalize_ext', 'HSA_FINALIZE_EXT'), 'rccl': ('rccl', '', 'RCCL')
}
TABLES = {
    'hip': ('HipDispatchTable', 't_{}', 'hip_api_trace.hpp'),
    'rccl': ('rcclApiFuncTable', '{}_fn_t', 'rccl/details/api_trace.h'),
    # name, names of its types, header that includes it
    'hip_compiler': ('HipCompilerDispatchTable', 't_{}', 'hip_api_trace.hpp')
}
# Arguments whose names in the SDK differ from the runtime's prototype.
RENAMED = {'f': 'func', 'hStream': 'stream', 'properties': 'prop', 'va': 'ptr'}
RENAMED_IN = {('hipGetDevicePropertiesR0600', 'device'): 'deviceId',
              ('hipGetDevicePropertiesR0000', 'device'): 'deviceId',
              ('hsa_amd_vmem_retain_alloc_handle', 'memory_handle'): 'handle',
              ('hsa_amd_vmem_get_alloc_properties_from_handle', 'memory_handle'): 'alloc_handle'}
RENAMES = ('hipChooseDeviceR0000', 'hipKernelNameRef', 'hipLaunchCooperativeKernel',
           'hipModuleLaunchCooperativeKernel', 'hipModuleLaunchKernel',
           'hipModuleOccupancyMaxActiveBlocksPerMultiprocessor',
           'hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags',
           'hipModuleOccupancyMaxPotentialBlockSize',
           'hipModuleOccupancyMaxPotentialBlockSizeWithFlags',
           'hipOccupancyMaxActiveBlocksPerMultiprocessor',
           'hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags',
           'hipOccupancyMaxPotentialBlockSize', 'hipExtModuleLaunchKernel',
           'hipHccModuleLaunchKernel', 'hipLaunchCooperativeKernel_spt',
           'hsa_amd_vmem_address_reserve', 'hsa_amd_vmem_address_free',
           'hsa_amd_vmem_address_reserve_align')


def argument_name(op, a):
    return RENAMED_IN.get(
        (op.name, a.shown)) or (RENAMED.get(a.shown) if op.name in RENAMES else None) or a.shown


def spelling(t):
    if t.name == 'bool':
        return 'bool'
    invented = t.cls in SPELLED or t.cls == 'enum' and (t.name.endswith('Flags') or t.bytes != 4)
    if invented or t.name == 'function':
        return t.c
    return f'{ELABORATED[t.name]} {t.name}' if t.name in ELABORATED else t.name


def declared(a, name, passed=False):
    """Return the declaration of @a as @name. @passed: true for a parameter of a function, false for
    a member. A dim3 member has the SDK's own type, because it must not be a C++ class."""
    base = (
        'rocprofiler_dim3_t'
        if a.type.name == 'dim3' and not a.stars and not passed
        else spelling(a.type)
    )
    # without const, because a const member would make the union unusable
    text = a.spelled(base) if a.stars or passed else base
    return f'{text} {name}'.replace('* ', '*').rstrip()


def wrapped(text, indent='\t\t'):
    return textwrap.fill(text,
                         140,
                         initial_indent='\t',
                         subsequent_indent=indent,
                         tabsize=8,
                         break_long_words=False)


def in_table(api):
    return [o for o in api.real() if o.number < api.table_count]


def args(api):
    out = [
        head(api, 'emit_rocprofiler.py')
        + f'/* Members of rocprofiler_{FOLDERS[api.domain][0]}_api_args_t: nothing else is in this'
        ' file. */'
    ]
    for op in in_table(api):
        members = ' '.join(declared(a, argument_name(op, a)) + ';' for a in op.args) or \
            f'rocprofiler_{FOLDERS[api.domain][0]}_api_no_args no_args;'
        out.append(wrapped(f'struct {{ {members} }} {op.name};'))
    return '\n'.join(out) + '\n'


def ids(api):
    folder, part, prefix = FOLDERS[api.domain]
    name = f'rocprofiler_{folder}_{part}_api_id_t'.replace('__', '_')
    guard = f'GPUTAP_COMPAT_ROCPROFILER_SDK_{prefix}_API_ID_H'
    out = [
        head(api, 'emit_rocprofiler.py') + f'#ifndef {guard}\n#define {guard}\n',
        f'typedef enum {name} {{', f'\tROCPROFILER_{prefix}_API_ID_NONE = -1,'
    ]
    out += [f'\tROCPROFILER_{prefix}_API_ID_{op.name} = {op.number},' for op in in_table(api)]
    out += [f'\tROCPROFILER_{prefix}_API_ID_LAST = {api.table_count}', f'}} {name};', '', '#endif']
    return '\n'.join(out) + '\n'


def function_type(api, op):
    ret = (
        'const char *'
        if op.name in (
            'hipGetErrorName',
            'hipGetErrorString',
            'hipApiName',
            'hipKernelNameRef',
            'hipKernelNameRefByPtr',
            'ncclGetErrorString',
            'ncclGetLastError',
        )
        else spelling(op.ret) + (' ' + '*' * op.ret_stars if op.ret_stars else '')
    )
    parameters = ', '.join(declared(a, a.shown, True) for a in op.args) or 'void'
    name = TABLES[api.domain][1].format(op.name)
    return f'typedef {ret}{"" if ret.endswith("*") else " "}(*{name})({parameters});'


def table(api):
    out = [
        head(api, 'emit_rocprofiler.py') +
        f'/* The table of functions, for {TABLES[api.domain][2]}. */'
    ]
    out += [wrapped(function_type(api, op)).lstrip('\t') for op in in_table(api)]
    out += ['', f'struct {TABLES[api.domain][0]} {{', '\tsize_t size;']
    out += [f'\t{TABLES[api.domain][1].format(op.name)} {op.name}_fn;'
            for op in in_table(api)] + ['};']
    return '\n'.join(out) + '\n'


def names(api):
    """generated/<domain>_rocprofiler.inc: names of operations, by number"""
    rows = [f'\t[{op.number}] = "{op.name}",' for op in in_table(api)]
    return head(api, 'emit_rocprofiler.py') + '\n'.join(rows) + '\n'


def argument_names(api):
    """generated/<domain>_rocprofiler_args.inc: argument names of operations, each ended by NUL"""
    rows = []
    for op in in_table(api):
        text = textwrap.wrap(' '.join(argument_name(op, a) for a in op.args), 120)
        rows.append(f'\t[{op.number}] = ' + '\n\t\t'.join(f'"{line} "'.replace(' ', '\\0')
                                                          for line in text or ['']) + ',')
    return head(api, 'emit_rocprofiler.py') + '\n'.join(rows).replace('"\\0"', '""') + '\n'


def headers(api):
    """Return (path from the root, text) of the public headers, for the domains that have any."""
    if api.domain not in FOLDERS:
        return []
    folder, part, _ = FOLDERS[api.domain]
    base = f'include/compat/rocprofiler-sdk/{folder}'
    made = [(f'{base}/details/{part or "api"}_args.h', args(api)),
            (f'{base}/{part}{"_" if part else ""}api_id.h', ids(api))]
    if api.domain in TABLES:
        made.append((f'{base}/details/{part or "api"}_table.h', table(api)))
    return made


def outputs(api):
    """Return (file name, text) of what the library is built from, for the same domains."""
    if api.domain not in FOLDERS:
        return []
    return [(f'{api.domain}_rocprofiler.inc', names(api)),
            (f'{api.domain}_rocprofiler_args.inc', argument_names(api))]
