-- SPDX-License-Identifier: MIT
-- Time in calls of runtimes' APIs, by function: table operations of `gputap report`.
--   domain, operation   API and name of the function
--   calls               number of calls
--   total_ns            time in these calls, with the calls inside them
--   mean_ns, min_ns, max_ns
--   failed, refused     calls that failed; calls that only found out what is supported
select domain, operation, calls, total_ns,
       cast(round((total_ns - total_ns % calls) / calls) as bigint) as mean_ns,
       min_ns, max_ns, failed, refused
from (
  select domain, operation,
         count(*) as calls,
         cast(sum(duration_ns) as bigint) as total_ns,
         min(duration_ns) as min_ns,
         max(duration_ns) as max_ns,
         count(case when error is not null and not refused then 1 end) as failed,
         count(case when refused then 1 end) as refused
  from calls
  -- these calls are whole ranges: view time_by_range
  where operation not in ('range_operator', 'range_backward', 'range_user', 'nvtxRange')
  group by domain, operation
) of_call
order by total_ns desc
