-- SPDX-License-Identifier: MIT
-- Time of kernels on devices, by kernel: table kernels of `gputap report`.
--   domain, device, name   API, number of the device, name of the kernel
--   count                  number of executions
--   total_ns               time of those whose times are known; NULL: no times are known
--   mean_ns, min_ns, max_ns
--   failed                 number of executions that failed
select domain, device, name, count, total_ns,
       cast(round((total_ns - total_ns % timed) / timed) as bigint) as mean_ns,
       min_ns, max_ns, failed
from (
  select domain, device, name,
         count(*) as count,
         nullif(count(duration_ns), 0) as timed,
         cast(sum(duration_ns) as bigint) as total_ns,
         min(duration_ns) as min_ns,
         max(duration_ns) as max_ns,
         count(case when status < 0 then 1 end) as failed
  from (
    select domain, device, duration_ns, status,
           case when kind = 'kernel' then coalesce(name, '(no name)') else kind end as name
    from activities
    where kind in ('kernel', 'native')
  ) kernels
  group by domain, device, name
) of_kernel
order by total_ns desc
