-- SPDX-License-Identifier: MIT
-- Calls and GPU activities that failed, by error, and refused calls: table failures of `gputap
-- report`.
--   kind     'failed'; 'refused': the call only found out that the runtime does not support
--            something, or had already done it
--   what     'call' or 'device': a GPU activity
--   domain   API
--   status   number of the error
--   error    name of the error; NULL for GPU activities
--   name     function, kernel or kind of activity
--   count    number of calls or activities
select case when refused then 'refused' else 'failed' end as kind, 'call' as what,
       domain, status, error, operation as name, count(*) as count
from calls
where error is not null
  and operation not in ('range_operator', 'range_backward', 'range_user', 'nvtxRange')
group by refused, domain, status, error, operation
union all
select 'failed', 'device', domain, status, null,
       case when kind = 'kernel' then coalesce(name, '(no name)')
            when name like 'Mem%' then name else kind end,
       count(*)
from activities
where status < 0
group by domain, status,
         case when kind = 'kernel' then coalesce(name, '(no name)')
              when name like 'Mem%' then name else kind end
order by kind, count desc
