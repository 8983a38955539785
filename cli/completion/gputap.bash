# SPDX-License-Identifier: MIT
# bash completion of gputap; needs no other completion library.
# tests/test_cli_completion.py compares the options below with the commands' own --help.

_gputap_words() {
	COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_gputap_files() { # captures, and folders on the way to them
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen -f -X '!*.gputap' -- "$cur") $(compgen -d -- "$cur"))
}

_gputap_any_file() {
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen -f -- "$cur"))
}

# complete a comma-separated list: keep the words before the last comma
_gputap_list() {
	local before=
	[[ $cur == *,* ]] && before=${cur%,*},
	COMPREPLY=($(compgen -P "$before" -W "$1" -- "${cur##*,}"))
	compopt -o nospace 2>/dev/null
}

_gputap_names() { # gputap list THING, one column; "number" comes first in operations
	"${COMP_WORDS[0]}" list "$1" --json 2>/dev/null | sed -n '/"traced": "not yet"/,/"name"/d; s/^ *"\(name\|family\)": "\([^"]\{1,\}\)",*$/\2/p'
}

_gputap_modes() { # as `gputap run --help` lists them
	"${COMP_WORDS[0]}" run --help 2>/dev/null | sed -n '/--mode MODE/,/--domains/s/^ \{25\}\([a-z]\w*\)  .*/\1/p'
}

# Print where the program of `gputap run` begins, or 0.
_gputap_program() {
	local i word
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--) echo $((i + 1)); return ;;
		-o | --output | -p | --pid | -m | --mode | -d | --domains | --ops | --kernels | --max-bytes | --buffer | --block-size | --when-full | --threads | --tool | --delay | --duration | --from | --to | --max-kernels | --start-signal | --stop-signal) ((i++)) ;;
		--*=*) ;;
		-*) ;;
		=) ((i++)) ;; # readline splits at '='
		*) echo "$i"; return ;;
		esac
	done
	echo 0
}

_gputap_run() {
	local program
	program=$(_gputap_program)
	if ((program)); then # the program's own completion
		if declare -F _command_offset >/dev/null; then
			_command_offset "$program"
		else
			_gputap_any_file
		fi
		return
	fi
	case $prev in
	-o | --output | --tool) _gputap_any_file; return ;;
	-d | --domains) _gputap_list "$(_gputap_names domains)"; return ;;
	-m | --mode) _gputap_words "$(_gputap_modes)"; return ;;
	--ops) _gputap_list "$(_gputap_names operations)"; return ;;
	--stacks) _gputap_list "launch slow:1ms gaps:1ms no lines:2s no-names"; return ;;
	--host-state) _gputap_words "auto no 5ms"; return ;;
	--kernels | --max-bytes | --buffer | --block-size | --when-full | --threads | --delay | --duration | --from | --to | --max-kernels) return ;;
	--start-signal | --stop-signal) _gputap_words "USR1 USR2 HUP WINCH RTMIN+1"; return ;;
	-p | --pid) _gputap_processes; return ;;
	esac
	if [[ $cur == -* ]]; then
		_gputap_words "--pid --tree --output --force --quiet --compress --mode --domains --ops --kernels --no-args --no-device --no-plugins --no-command --share --max-bytes --keep --trigger --keep-after --snapshots-most --snapshot-signal --wait --buffer
			--block-size --when-full --threads --tool --stacks --host-state --sample-host --paused --delay --duration --from --to --max-kernels --start-signal --stop-signal --help"
	else
		COMPREPLY=($(compgen -c -- "$cur"))
		[[ $cur == */* ]] && _gputap_any_file
	fi
}

_gputap_processes() { # processes of this user
	_gputap_words "$(ps -u "$(id -u)" -o pid= 2>/dev/null)"
}

_gputap_attach() {
	case $prev in
	-o | --output) _gputap_any_file; return ;;
	-d | --domains) _gputap_list "$(_gputap_names domains)"; return ;;
	-m | --mode) _gputap_words "$(_gputap_modes)"; return ;;
	--ops) _gputap_list "$(_gputap_names operations)"; return ;;
	--stacks) _gputap_list "launch slow:1ms gaps:1ms no lines:2s no-names"; return ;;
	--host-state) _gputap_words "auto no 5ms"; return ;;
	--kernels | --max-bytes | --buffer | --block-size | --when-full | --threads | --delay | --duration | --from | --to | --max-kernels) return ;;
	--start-signal | --stop-signal) _gputap_words "USR1 USR2 HUP WINCH RTMIN+1"; return ;;
	esac
	if [[ $cur == -* ]]; then
		_gputap_words "--pid --tree --output --force --quiet --compress --mode --domains --ops --kernels --no-args --no-device --no-plugins --no-command --share --max-bytes --keep --trigger --keep-after --snapshots-most --snapshot-signal --wait --buffer
			--block-size --when-full --threads --stacks --host-state --sample-host --paused --delay --duration --from --to --max-kernels --start-signal --stop-signal --help"
	else
		_gputap_processes
	fi
}

_gputap_plugin() {
	case $prev in
	--exercise) _gputap_any_file; return ;;
	--seconds) return ;;
	esac
	if [[ $cur == -* ]]; then
		_gputap_words "--exercise --seconds --verbose --help"
	elif ((COMP_CWORD == 2)); then
		_gputap_words "check rules"
	else
		_gputap_any_file
	fi
}

_gputap_soft() {
	local i
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); else _gputap_any_file; fi; return ;;
		esac
	done
	case $prev in
	soft) [[ $cur == -* ]] || { _gputap_words "amdgpu cuda level-zero"; return; } ;;
	--gfx) _gputap_words "900 906 908 90a"; return ;;
	--durations | --opencl) _gputap_any_file; return ;;
	--fail)
		if [[ ${COMP_WORDS[2]} == level-zero ]]; then
			_gputap_list "allocate queue list event module append kernel hang stamps"
		elif [[ ${COMP_WORDS[2]} == cuda ]]; then
			_gputap_list "init allocate module launch kernel"
		else
			_gputap_list "allocate event queue kernel hang"
		fi
		return
		;;
	--cupti) _gputap_words "11.8 12.9 13.0 13.5 none"; return ;;
	--cupti-fail) _gputap_list "subscribe register privileges compatible buffers start"; return ;;
	--gpus | --memory | --clock-epoch | --clock-skew | --clock-drift) return ;;
	--devices | --tiles | --clock-hz | --kernel-bits) return ;;
	esac
	local amdgpu="--gpus --gfx --memory --durations --no-execute --clock-epoch --clock-skew --clock-drift --fail --large-bar --kfd --help"
	local level_zero="--devices --tiles --memory --opencl --no-execute --no-threads --counter-events --clock-hz --kernel-bits --clock-epoch --clock-skew --clock-drift --fail --help"
	local cuda="--devices --memory --fail --cupti --cupti-fail --help"
	if [[ $cur == -* ]]; then
		case ${COMP_WORDS[2]} in
		cuda) _gputap_words "$cuda" ;;
		amdgpu) _gputap_words "$amdgpu" ;;
		level-zero) _gputap_words "$level_zero" ;;
		*) _gputap_words "$amdgpu $level_zero $cuda" ;;
		esac
	else
		COMPREPLY=($(compgen -c -- "$cur"))
		[[ $cur == */* ]] && _gputap_any_file
	fi
}

_gputap_report() {
	case $prev in
	-o | --output) _gputap_any_file; return ;;
	-t | --table)
		_gputap_list "ranks rank_spread rank_waits operations ranges gpu_by_range failures kernels copies other memory graphs devices idle gaps patterns latency stacks host_samples processes threads open loss code_objects kernel_symbols"; return ;;
	-b | --by) _gputap_list "name device process thread queue range rank host"; return ;;
	-s | --sort)
		_gputap_words "total_ns self_ns share calls count mean_ns p50_ns p99_ns min_ns max_ns bytes bytes_per_s failed name"
		return ;;
	-n | --top | --frames) return ;;
	-w | --where) _gputap_words "name domain kind device process thread queue range host duration bytes rank at failed"; return ;;
	esac
	if [[ $cur == -* ]]; then
		_gputap_words "--table --sort --reverse --top --frames --by --where --json --csv --html --output --force --share --timeline --all --full-names --store-summary --read-records --mangled --help"
	else
		_gputap_files
	fi
}

_gputap_diff() {
	local tables="totals devices idle ranks kernels copies other graphs ranges gpu_by_range operations"
	case $prev in
	-t | --table) _gputap_list "$tables"; return ;;
	-b | --by) _gputap_list "device rank"; return ;;
	-n | --top | --per | --noise) return ;;
	--fail-over) _gputap_list "5% counts:0% counts:off ${tables// /:5% }:5%"; return ;;
	:) # readline splits at ':'
		case ${COMP_WORDS[COMP_CWORD - 2]} in
		counts | *,counts) _gputap_words "0% off"; return ;;
		esac ;;
	-w | --where | --baseline | --candidate) _gputap_words "name domain kind device process thread queue range duration bytes failed"; return ;;
	-o | --output) _gputap_any_file; return ;;
	esac
	if [[ $cur == -* ]]; then
		_gputap_words "--vs --baseline --candidate --where --per --table --by --top --noise --fail-over --mangled --json --csv --markdown --svg --output --force --share --help"
	else
		_gputap_files
	fi
}

_gputap_what_if() {
	case $prev in
	--scale | --overlap) _gputap_words "name domain kind device process thread queue range duration bytes failed"; return ;;
	-n | --top | --per | --bandwidth | --launch-cost) return ;;
	esac
	if [[ $cur == -* ]]; then
		_gputap_words "--scale --bandwidth --launch-cost --overlap --per --top --mangled --json --help"
	else
		_gputap_files
	fi
}

_gputap_export() {
	case $prev in
	-o | --output) _gputap_any_file; return ;;
	-w | --where) _gputap_words "name domain kind device process thread queue range host duration bytes rank at failed"; return ;;
	--format) _gputap_words "gputap parquet $(_gputap_names formats)"; return ;;
	--weight) _gputap_words "device host"; return ;;
	-j | --jobs | --part) return ;;
	esac
	if [[ $cur == -* ]]; then _gputap_words "--output --force --share --format --where --mangled --weight --jobs --part --help"; else _gputap_files; fi
}

_gputap_top() {
	case $prev in
	-s | --sort) _gputap_words "time count mean name"; return ;;
	-d | --delay | -n | --count) return ;;
	esac
	if [[ $cur == -* ]]; then _gputap_words "--delay --count --once --sort --json --help"; else _gputap_files; fi
}

_gputap_merge() {
	case $prev in
	-o | --output) _gputap_any_file; return ;;
	-w | --where) _gputap_words "name domain kind device process thread queue range host duration bytes rank at failed"; return ;;
	--format) _gputap_words "gputap $(_gputap_names formats)"; return ;;
	-j | --jobs) return ;;
	esac
	if [[ $cur == -* ]]; then _gputap_words "--output --force --share --format --where --mangled --jobs --help"; else _gputap_files; fi
}

_gputap_info() {
	if [[ $cur == -* ]]; then _gputap_words "--all --json --help"; else _gputap_files; fi
}

_gputap_sessions() { # captures that are being written, and their gputap's process
	_gputap_words "$("${COMP_WORDS[0]}" status --json 2>/dev/null | sed -n 's/^ *"\(output\|collector\)": "\{0,1\}\([^",]*\)"\{0,1\},*$/\2/p')"
}

_gputap_snapshot() {
	case $prev in
	-o | --output) _gputap_files; return ;;
	esac
	if [[ $cur == -* ]]; then _gputap_words "--output --force --stacks --quiet --help"; else _gputap_sessions; fi
}

_gputap_start() {
	if [[ $cur == -* ]]; then _gputap_words "--quiet --help"; else _gputap_sessions; fi
}

_gputap_status() {
	if [[ $cur == -* ]]; then _gputap_words "--all --stacks --json --help"; else _gputap_sessions; fi
}

_gputap_list_command() {
	case $prev in
	-d | --domain) _gputap_words "$(_gputap_names domains)"; return ;;
	-g | --group)
		_gputap_words "$("${COMP_WORDS[0]}" list operations --json | sed -n 's/^ *"group": "\([^"]*\)",*$/\1/p' | sort -u)"
		return ;;
	-k | --kind)
		_gputap_words "$("${COMP_WORDS[0]}" list operations --json | sed -n 's/^ *"kind": "\([^"]*\)",*$/\1/p' | sort -u)"
		return ;;
	esac
	if [[ $cur == -* ]]; then
		_gputap_words "--domain --group --kind --json --help"
	elif ((COMP_CWORD == 2)); then
		_gputap_words "domains operations methods formats"
	else
		_gputap_words "$(_gputap_names "${COMP_WORDS[2]}")"
	fi
}

_gputap() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_gputap_words "run attach detach report diff what-if export info merge list recover top doctor plugin soft start stop status snapshot help --help --version"
		return
	fi
	if [[ $cur == = ]]; then # --option=
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case ${COMP_WORDS[1]} in
	run) _gputap_run ;;
	attach) _gputap_attach ;;
	report) _gputap_report ;;
	diff) _gputap_diff ;;
	what-if) _gputap_what_if ;;
	export) _gputap_export ;;
	info) _gputap_info ;;
	merge) _gputap_merge ;;
	top) _gputap_top ;;
	list) _gputap_list_command ;;
	recover)
		if [[ $cur == -* ]]; then
			_gputap_words "--help"
		else
			_gputap_words "$("${COMP_WORDS[0]}" recover 2>/dev/null | sed -n 's/^\(\/[^ ]*\)  left from .*/\1/p')"
		fi ;;
	doctor) _gputap_words "--json --help" ;;
	plugin) _gputap_plugin ;;
	soft) _gputap_soft ;;
	start | stop | detach) _gputap_start ;;
	snapshot) _gputap_snapshot ;;
	status) _gputap_status ;;
	help) _gputap_words "run attach detach report diff what-if export info merge list recover top doctor plugin soft start stop status snapshot" ;;
	esac
}

complete -F _gputap gputap
