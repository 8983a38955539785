-- SPDX-License-Identifier: MIT
-- Time from the start of a call to the start of its kernel, and its stages by the runtime's time
-- stamps: table latency of `gputap report`.
--   device   number of the device
--   stage    'call to start' is the whole time; 'call to queued', 'queued to submitted' and
--            'submitted to start' divide it, if the runtime reports these times
--   count    number of kernels
--   total_ns, mean_ns, min_ns, max_ns
--   early    number of kernels that appear to start before their call, because of a wrong clock;
--            they are not in count
with kernels as (
  select device,
         start_ns - call_start_ns as launch_ns,
         -- stages are 0 or more, whatever the runtime reports
         case when queued_ns > call_start_ns then queued_ns - call_start_ns else 0 end
           as enqueue_ns,
         case when submitted_ns > queued_ns then submitted_ns - queued_ns else 0 end as submit_ns,
         case when start_ns > submitted_ns then start_ns - submitted_ns else 0 end as wait_ns,
         start_ns < call_start_ns as is_early,
         start_ns >= call_start_ns and queued_ns is not null and submitted_ns is not null
           as has_stages
  from activities
  where kind = 'kernel' and start_ns is not null and call_start_ns is not null
), sums as (
  select device,
         count(case when is_early then 1 end) as early,
         count(case when not is_early then 1 end) as launch_count,
         count(case when has_stages then 1 end) as stage_count,
         sum(case when not is_early then launch_ns end) as launch_sum,
         min(case when not is_early then launch_ns end) as launch_min,
         max(case when not is_early then launch_ns end) as launch_max,
         sum(case when has_stages then enqueue_ns end) as enqueue_sum,
         min(case when has_stages then enqueue_ns end) as enqueue_min,
         max(case when has_stages then enqueue_ns end) as enqueue_max,
         sum(case when has_stages then submit_ns end) as submit_sum,
         min(case when has_stages then submit_ns end) as submit_min,
         max(case when has_stages then submit_ns end) as submit_max,
         sum(case when has_stages then wait_ns end) as wait_sum,
         min(case when has_stages then wait_ns end) as wait_min,
         max(case when has_stages then wait_ns end) as wait_max
  from kernels
  group by device
), stages as (
  select 1 as number, 'call to start' as stage
  union all select 2, 'call to queued'
  union all select 3, 'queued to submitted'
  union all select 4, 'submitted to start'
), by_stage as (
  select device, number, stage,
         case when number = 1 then launch_count else stage_count end as count,
         cast(case number when 1 then launch_sum when 2 then enqueue_sum
                          when 3 then submit_sum else wait_sum end as bigint) as total_ns,
         case number when 1 then launch_min when 2 then enqueue_min
                     when 3 then submit_min else wait_min end as min_ns,
         case number when 1 then launch_max when 2 then enqueue_max
                     when 3 then submit_max else wait_max end as max_ns,
         case when number = 1 then early end as early
  from sums cross join stages
)
select device, stage, count, total_ns,
       cast(round((total_ns - total_ns % nullif(count, 0)) / nullif(count, 0)) as bigint)
         as mean_ns,
       min_ns, max_ns, early
from by_stage
where number = 1 or count > 0
order by device, number
