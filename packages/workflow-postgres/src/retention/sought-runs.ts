/**
 * Whether nobody may still look for run `r` by its key, and start it again without it. A child stays as long as its parent, which may undo it. A run
 * that was started for the end of another stays until that end is forgotten.
 */
export const isNotSought = `case
      when r.parent_run_id is null then true
      when r.parent_step is null then not exists (select from belay.workflow_run_ends e where e.run_id = any (array[r.parent_run_id]))
      else not exists (select from belay.workflow_runs p where p.id = any (array[r.parent_run_id])) end`
