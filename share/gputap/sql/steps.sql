-- SPDX-License-Identifier: MIT
-- Training steps: one row for each range of the program whose name begins with 'step' or
-- 'ProfilerStep'. A GPU activity belongs to the innermost step that contains its launching call;
-- idle time belongs to the step of the activity that ended the gap, as in
-- `gputap report --where range=step#7`.
--   session, process, thread, step   thread that began the range; id of the range
--   name, start_ns, wall_ns          text, start since 1970, duration on the host
--   activities                       number of GPU activities
--   kernels, kernel_ns               number of kernels, and the sum of their durations
--   gpu_ns                           sum of the durations of all activities
--   busy_ns                          time in which any of them ran, summed over devices
--   idle_ns                          idle time of devices before these activities
--   idle_host_ns                     .. while the host was outside any call
--   idle_synchronising_ns            .. in a call that waits
--   idle_copying_ns                  .. in a blocking copy
--   idle_collective_ns               .. in a collective's call
--   idle_launching_ns                .. in the launching call
--   idle_late_ns                     .. submitted late, started late, or blocked by an event
--   idle_other_ns                    .. other causes
with step_ranges as (
  select id, session, process, thread, name, start_ns, duration_ns
  from ranges
  where step = id and kind <> 'mark'
), launched as (
  select r.step as step, a.device as device, a.process as process, a.thread as thread,
         a.kind as kind, a.start_ns as start_ns, a.duration_ns as duration_ns
  from activities a
  join calls c on c.id = a.call
  join ranges r on r.id = c.range
  where r.step is not null and a.kind not in ('marker', 'barrier', 'scratch')
), swept as (
  select step, kind, start_ns, duration_ns,
         coalesce(max(start_ns + duration_ns) over (
           partition by step, device order by start_ns
           rows between unbounded preceding and 1 preceding), start_ns) as busy_until
  from launched
), step_busy as (
  select step,
         count(*) as activities,
         count(case when kind in ('kernel', 'native') then 1 end) as kernels,
         sum(case when kind in ('kernel', 'native') then duration_ns end) as kernel_ns,
         sum(duration_ns) as gpu_ns,
         sum(case when start_ns + duration_ns > busy_until
                  then start_ns + duration_ns - greatest(start_ns, busy_until) else 0 end)
           as busy_ns
  from swept
  group by step
), starts as (
  -- the step of the activity that ended a gap
  select coalesce(device, -1) as known_device, process, thread, start_ns, min(step) as step
  from launched
  where start_ns is not null
  group by coalesce(device, -1), process, thread, start_ns
), step_idle as (
  select s.step as step,
         sum(i.duration_ns) as idle_ns,
         sum(case when i.cause = 'host' then i.duration_ns else 0 end) as host_ns,
         sum(case when i.cause = 'synchronising' then i.duration_ns else 0 end)
           as synchronising_ns,
         sum(case when i.cause in ('copying', 'pageable') then i.duration_ns else 0 end)
           as copying_ns,
         sum(case when i.cause = 'collective' then i.duration_ns else 0 end) as collective_ns,
         sum(case when i.cause = 'launching' then i.duration_ns else 0 end) as launching_ns,
         sum(case when i.cause in ('submitted_late', 'started_late', 'blocked')
                  then i.duration_ns else 0 end) as late_ns
  from idle i
  join starts s on s.start_ns = i.gap_start_ns + i.gap_duration_ns
    and s.known_device = coalesce(i.device, -1) and s.process = i.process and s.thread = i.thread
  where i.cause <> 'unrecorded'
  group by s.step
)
select s.session as session, s.process as process, s.thread as thread, s.id as step,
       s.name as name, s.start_ns as start_ns, s.duration_ns as wall_ns,
       coalesce(b.activities, 0) as activities,
       coalesce(b.kernels, 0) as kernels,
       cast(coalesce(b.kernel_ns, 0) as bigint) as kernel_ns,
       cast(coalesce(b.gpu_ns, 0) as bigint) as gpu_ns,
       cast(coalesce(b.busy_ns, 0) as bigint) as busy_ns,
       cast(coalesce(i.idle_ns, 0) as bigint) as idle_ns,
       cast(coalesce(i.host_ns, 0) as bigint) as idle_host_ns,
       cast(coalesce(i.synchronising_ns, 0) as bigint) as idle_synchronising_ns,
       cast(coalesce(i.copying_ns, 0) as bigint) as idle_copying_ns,
       cast(coalesce(i.collective_ns, 0) as bigint) as idle_collective_ns,
       cast(coalesce(i.launching_ns, 0) as bigint) as idle_launching_ns,
       cast(coalesce(i.late_ns, 0) as bigint) as idle_late_ns,
       cast(coalesce(i.idle_ns - i.host_ns - i.synchronising_ns - i.copying_ns
                     - i.collective_ns - i.launching_ns - i.late_ns, 0) as bigint)
         as idle_other_ns
from step_ranges s
left join step_busy b on b.step = s.id
left join step_idle i on i.step = s.id
order by s.start_ns, s.id
