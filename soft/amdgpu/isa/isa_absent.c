/* SPDX-License-Identifier: MIT */
/* Names of gfx906 instructions that the interpreter does not support, for the errors of kernels
 * that use them. */
#include "soft/amdgpu/isa/isa_wave.h"

static const struct {
	uint8_t encoding;
	uint16_t number;
	const char *name;
} absent[] = {
	{SOFT_SOPC, 0x10, "s_setvskip"},
	{SOFT_SOPP, 0x0b, "s_setkill"},
	{SOFT_SOPP, 0x0d, "s_sethalt"},
	{SOFT_SOPP, 0x11, "s_sendmsghalt"},
	{SOFT_SOPP, 0x16, "s_ttracedata"},
	{SOFT_SOPP, 0x17, "s_cbranch_cdbgsys"},
	{SOFT_SOPP, 0x18, "s_cbranch_cdbguser"},
	{SOFT_SOPP, 0x19, "s_cbranch_cdbgsys_or_user"},
	{SOFT_SOPP, 0x1a, "s_cbranch_cdbgsys_and_user"},
	{SOFT_SOPP, 0x1b, "s_endpgm_saved"},
	{SOFT_SOPP, 0x1e, "s_endpgm_ordered_ps_done"},
	{SOFT_SOPK, 0x10, "s_cbranch_i_fork"},
	{SOFT_SOP2, 0x29, "s_cbranch_g_fork"},
	{SOFT_SOP2, 0x2b, "s_rfe_restore_b64"},
	{SOFT_SOP1, 0x1f, "s_rfe_b64"},
	{SOFT_SOP1, 0x2e, "s_cbranch_join"},
	{SOFT_SMEM, 0x05, "s_scratch_load_dword"},
	{SOFT_SMEM, 0x06, "s_scratch_load_dwordx2"},
	{SOFT_SMEM, 0x07, "s_scratch_load_dwordx4"},
	{SOFT_SMEM, 0x08, "s_buffer_load_dword"},
	{SOFT_SMEM, 0x09, "s_buffer_load_dwordx2"},
	{SOFT_SMEM, 0x0a, "s_buffer_load_dwordx4"},
	{SOFT_SMEM, 0x0b, "s_buffer_load_dwordx8"},
	{SOFT_SMEM, 0x0c, "s_buffer_load_dwordx16"},
	{SOFT_SMEM, 0x10, "s_store_dword"},
	{SOFT_SMEM, 0x11, "s_store_dwordx2"},
	{SOFT_SMEM, 0x12, "s_store_dwordx4"},
	{SOFT_VOP2, 0x23, "v_mac_f16"},
	{SOFT_VOP2, 0x24, "v_madmk_f16"},
	{SOFT_VOP2, 0x25, "v_madak_f16"},
	{SOFT_VOP1, 0x0e, "v_cvt_off_f32_i4"},
	{SOFT_VOP1, 0x35, "v_clrexcp"},
	{SOFT_VOP1, 0x37, "v_screen_partition_4se_b32"},
	{SOFT_VOP1, 0x4b, "v_exp_legacy_f32"},
	{SOFT_VOP1, 0x4c, "v_log_legacy_f32"},
	{SOFT_VOP1, 0x4d, "v_cvt_norm_i16_f16"},
	{SOFT_VOP1, 0x4e, "v_cvt_norm_u16_f16"},
	{SOFT_VOP1, 0x4f, "v_sat_pk_u8_i16"},
	{SOFT_VOP3, 0x1c0, "v_mad_legacy_f32"},
	{SOFT_VOP3, 0x1c4, "v_cubeid_f32"},
	{SOFT_VOP3, 0x1c5, "v_cubesc_f32"},
	{SOFT_VOP3, 0x1c6, "v_cubetc_f32"},
	{SOFT_VOP3, 0x1c7, "v_cubema_f32"},
	{SOFT_VOP3, 0x1dd, "v_cvt_pk_u8_f32"},
	{SOFT_VOP3, 0x1e4, "v_msad_u8"},
	{SOFT_VOP3, 0x1e5, "v_qsad_pk_u16_u8"},
	{SOFT_VOP3, 0x1e6, "v_mqsad_pk_u16_u8"},
	{SOFT_VOP3, 0x1e7, "v_mqsad_u32_u8"},
	{SOFT_VOP3, 0x1ea, "v_mad_legacy_f16"},
	{SOFT_VOP3, 0x1f0, "v_cvt_pkaccum_u8_f32"},
	{SOFT_VOP3, 0x203, "v_mad_f16"},
	{SOFT_VOP3, 0x294, "v_cvt_pknorm_i16_f32"},
	{SOFT_VOP3, 0x295, "v_cvt_pknorm_u16_f32"},
	{SOFT_VOP3, 0x297, "v_cvt_pk_u16_u32"},
	{SOFT_VOP3, 0x298, "v_cvt_pk_i16_i32"},
	{SOFT_VOP3, 0x299, "v_cvt_pknorm_i16_f16"},
	{SOFT_VOP3, 0x29a, "v_cvt_pknorm_u16_f16"},
	{SOFT_DS, 0x2e, "ds_wrxchg2_rtn_b32"},
	{SOFT_DS, 0x2f, "ds_wrxchg2st64_rtn_b32"},
	{SOFT_DS, 0x34, "ds_wrap_rtn_b32"},
	{SOFT_DS, 0x6e, "ds_wrxchg2_rtn_b64"},
	{SOFT_DS, 0x6f, "ds_wrxchg2st64_rtn_b64"},
	{SOFT_DS, 0x7e, "ds_condxchg32_rtn_b64"},
};

const char *soft_absent_name(enum soft_encoding encoding, unsigned number)
{
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		if (absent[i].encoding == encoding && absent[i].number == number)
			return absent[i].name;
	return NULL;
}
