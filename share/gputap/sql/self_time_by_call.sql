-- SPDX-License-Identifier: MIT
-- Time in calls of runtimes' APIs without the calls inside them: self_ns of table operations of
-- `gputap report`. Joins calls with calls, so it takes longer than time_by_call.
--   domain, operation   API and name of the function
--   calls               number of calls
--   self_ns             time in these calls, without the recorded calls inside them
--   share               part of the self_ns of all calls, 0 to 1
with api_calls as (
  select id, parent, domain, operation, duration_ns
  from calls
  where operation not in ('range_operator', 'range_backward', 'range_user', 'nvtxRange')
), inner_calls as (
  select parent, cast(sum(duration_ns) as bigint) as inner_ns
  from api_calls
  where parent is not null
  group by parent
), by_call as (
  select c.domain as domain, c.operation as operation,
         count(*) as calls,
         cast(sum(c.duration_ns - least(c.duration_ns, coalesce(i.inner_ns, 0))) as bigint)
           as self_ns
  from api_calls c
  left join inner_calls i on i.parent = c.id
  group by c.domain, c.operation
)
select domain, operation, calls, self_ns,
       cast(self_ns as double) / nullif(cast(sum(self_ns) over () as double), 0) as share
from by_call
order by self_ns desc
