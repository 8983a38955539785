-- SPDX-License-Identifier: MIT
-- GPU time of ranges of the program and of operators of frameworks, by name of the innermost
-- range: gpu_self_ns of table gpu_by_range of `gputap report`. An activity whose call was lost is
-- in no range.
--   name          text of the innermost range that contains the launching call; NULL: in no range
--   activities    number of GPU activities, without markers and barriers
--   gpu_self_ns   their time on the devices
select r.name as name,
       count(*) as activities,
       cast(coalesce(sum(a.duration_ns), 0) as bigint) as gpu_self_ns
from activities a
left join calls c on c.id = a.call
left join ranges r on r.id = c.range
where a.kind not in ('marker', 'barrier', 'scratch')
group by r.name
order by gpu_self_ns desc
