import type { JsonText } from '@belay/workflow/adapter'
import type { Counts, OwnedRun, StepRow, StoredMail } from '@belay/workflow/store'
import { msOf } from './query.ts'

/** The rows of a run’s units as one JSON text. Index: primary key. */
const STEPS = `(
    select json_agg(json_build_array(s.unit, s.scope, s.name, s.index, s.label, s.status, s.round, s.attempt, s.failures, s.losses, ${msOf('s.due')},
      s.undo_attempt, s.undo_failures, s.undo_losses, ${msOf('s.undo_due')}, s.state::text) order by s.unit)
    from belay.workflow_steps s where s.run_id = r.id
  )`

/** Its mail that is not applied. Index: mail that is not applied. */
const MAIL = `(
    select json_agg(json_build_array(m.sequence, m.key, m.event::text, m.payload::text) order by m.sequence)
    from belay.workflow_mail m where m.run_id = r.id and m.applied_at is null
  )`

/** What an owner needs of a run `r` with its row `l` in live: with its steps if `hasSteps` is true. */
export const ownedColumns = (hasSteps: string): string => `
  r.id::text as id, r.definition_id, r.workflow, r.key, to_json(r.tags)::text as tags, r.input::text as input, r.status,
  r.parent_run_id::text as parent_run_id, r.parent_unit, r.detached, ${msOf('r.created_at')} as created_at, ${msOf('r.start_at')} as start_at,
  ${msOf('r.deadline_at')} as deadline_at, ${msOf('r.finished_at')} as finished_at, r.priority, r.paused, r.parked, r.cause::text as cause,
  r.state::text as state, l.fence, l.begun, l.lost, case when ${hasSteps} then ${STEPS}::text end as steps, ${MAIL}::text as mail`

export interface OwnedRow {
  readonly id: string
  readonly definition_id: number
  readonly workflow: string
  readonly key: string | null
  readonly tags: string | null
  readonly input: JsonText
  readonly status: OwnedRun['status']
  readonly parent_run_id: string | null
  readonly parent_unit: number | null
  readonly detached: boolean | null
  readonly created_at: number
  readonly start_at: number | null
  readonly deadline_at: number | null
  readonly finished_at: number | null
  readonly priority: number
  readonly paused: boolean
  readonly parked: boolean
  readonly cause: JsonText
  readonly state: JsonText
  readonly fence: number | null
  readonly begun: boolean | null
  readonly lost: boolean | null
  readonly steps: string | null
  readonly mail: string | null
}

export function ownedRun(row: OwnedRow, hasSteps: boolean): OwnedRun {
  const { id, definition_id: definition, workflow, key, tags, input, status, priority, paused, parked } = row
  return {
    ...{ id, definition, workflow, key, input, status, priority, paused, parked },
    tags: tags === null ? null : JSON.parse(tags),
    parent: parentOf(row),
    createdAt: row.created_at,
    startAt: row.start_at,
    deadlineAt: row.deadline_at,
    finishedAt: row.finished_at,
    cause: row.cause,
    state: row.state,
    fence: row.fence ?? 0,
    begun: row.begun === true,
    lost: row.lost === true,
    steps: hasSteps ? stepsOf(row.steps) : null,
    mail: mailIn(row.mail),
  }
}

function parentOf({ parent_run_id: run, parent_unit: unit, detached }: OwnedRow): OwnedRun['parent'] {
  if (run === null) return null
  return detached === true ? { run, unit, detached } : { run, unit }
}

type StepTuple = readonly [
  no: number,
  scope: number,
  name: string | null,
  index: number | null,
  label: string | null,
  status: StepRow['status'],
  round: number,
  attempt: number,
  failures: number,
  losses: number,
  due: number | null,
  undoAttempt: number | null,
  undoFailures: number,
  undoLosses: number,
  undoDue: number | null,
  state: JsonText,
]

function stepsOf(text: string | null): readonly StepRow[] {
  if (text === null) return []
  return (JSON.parse(text) as readonly StepTuple[]).map((tuple) => {
    const [no, scope, name, index, label, status, round, attempt, failures, losses, due, ...rest] = tuple
    const [undoAttempt, undoFailures, undoLosses, undoDue, state] = rest
    const undo: Counts | null =
      undoAttempt === null
        ? null
        : { attempt: undoAttempt, failures: undoFailures, losses: undoLosses, due: undoDue }
    return { no, scope, name, index, label, status, round, attempt, failures, losses, due, undo, state }
  })
}

type MailTuple = readonly [sequence: number, key: string, event: JsonText, payload: JsonText]

function mailIn(text: string | null): readonly StoredMail[] {
  if (text === null) return []
  return (JSON.parse(text) as readonly MailTuple[]).map(([sequence, key, event, payload]) => ({
    sequence,
    key,
    event,
    payload,
  }))
}
