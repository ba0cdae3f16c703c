import type { Engine, ScheduleFiring, ScheduleSnapshot } from '@belay/workflow'
import type { ScheduleActionRequest, ScheduleActionResult } from '../api/schedules.ts'
import type { Texts } from '../view/texts.ts'
import { reasonOf } from './view-firing.ts'

/** Tells what an action would do, and changes nothing. */
export async function foreseeSchedule(
  { schedules }: Engine,
  schedule: ScheduleSnapshot,
  request: ScheduleActionRequest,
): Promise<ScheduleActionResult> {
  const { name, status } = schedule
  switch (request.action) {
    case 'pause':
      return status === 'paused'
        ? { changed: false, sentence: alreadyPaused(schedule) }
        : {
            changed: true,
            sentence: 'It would be paused: its live runs go on, and times that pass meanwhile never fire.',
          }
    case 'resume': {
      if (status !== 'paused') return { changed: false, sentence: NOT_PAUSED }
      const [next] = await schedules.preview(name, { count: 1 })
      const when =
        next === undefined ? 'and fires no more' : `and fires next at ${next.firesAt.toISOString()}`
      return { changed: true, sentence: `It would go on, ${when}. Times that passed do not fire.` }
    }
    case 'fire': {
      const { liveRuns } = await schedules.explain(name)
      return wouldFire(schedule, liveRuns)
    }
    case 'backfill': {
      const { times } = await schedules.backfill(name, { ...rangeOf(request), dryRun: true })
      return wouldBackfill(times)
    }
  }
}

function rangeOf({ from = 0, to = 0 }: ScheduleActionRequest): { readonly from: Date; readonly to: Date } {
  return { from: new Date(from), to: new Date(to) }
}

function alreadyPaused({ pausedAt, pauseReason }: ScheduleSnapshot): string {
  const why = pauseReason === undefined ? '' : ` (${pauseReason})`
  return `It has been paused since ${pausedAt?.toISOString()}${why}: there is nothing to change.`
}

const NOT_PAUSED = 'It is not paused: there is nothing to change.'

function wouldFire({ overlap, status }: ScheduleSnapshot, liveRuns: readonly string[]): ScheduleActionResult {
  const [live] = liveRuns
  const still = status === 'paused' ? ' It stays paused.' : ' Its next time does not change.'
  if (live === undefined || overlap === 'allow') {
    return { changed: true, sentence: `One run would be started now.${still}` }
  }
  switch (overlap) {
    case 'skip':
      return {
        changed: false,
        sentence: `Nothing would be started: run ${live} is live, and the schedule’s overlap is “skip”. The firing would be recorded as skipped.`,
      }
    case 'queue':
      return { changed: true, sentence: `A run would be started once run ${live} has ended.${still}` }
    case 'cancel-running':
      return {
        changed: true,
        sentence: `Run ${live} would be cancelled, which undoes what it has done, and another one started at once.${still}`,
      }
  }
}

function wouldBackfill(times: readonly Date[]): ScheduleActionResult {
  const [first] = times
  if (first === undefined) {
    return { changed: false, sentence: 'It has no time between these instants: there is nothing to start.' }
  }
  const last = times.at(-1)!
  const which =
    times.length === 1
      ? `1 time: ${first.toISOString()}`
      : `${times.length} times: the first at ${first.toISOString()}, the last at ${last.toISOString()}`
  return {
    changed: true,
    sentence: `${which}. A run would be started for each that has not fired yet, all at once, whatever the overlap.`,
  }
}

/** Does it. Throws what the engine throws. */
export async function actOnSchedule(
  { schedules }: Engine,
  schedule: ScheduleSnapshot,
  request: ScheduleActionRequest,
  texts: Texts,
): Promise<ScheduleActionResult> {
  const { name } = schedule
  switch (request.action) {
    case 'pause': {
      const changed = await schedules.pause(name, { reason: request.reason })
      return changed
        ? { changed, sentence: 'It is paused.' }
        : { changed, sentence: 'Somebody else has paused it meanwhile: nothing has changed.' }
    }
    case 'resume': {
      const changed = await schedules.resume(name)
      if (!changed) return { changed, sentence: NOT_PAUSED }
      const { summary } = await schedules.explain(name)
      return { changed, sentence: `It goes on. ${summary}` }
    }
    case 'fire':
      return fired(await schedules.trigger(name), texts)
    case 'backfill': {
      const { runs } = await schedules.backfill(name, rangeOf(request))
      return backfilled(runs.filter(({ created }) => created).length, runs.length)
    }
  }
}

function fired(firing: ScheduleFiring, texts: Texts): ScheduleActionResult {
  const { status, runId } = firing
  const reason = reasonOf(firing, texts) ?? ''
  switch (status) {
    case 'started':
      return { changed: true, sentence: 'It has fired, and started a run.', runId }
    case 'queued':
      return { changed: true, sentence: `Its firing is queued. ${reason}` }
    default:
      return { changed: false, sentence: `No run was started. ${reason}`, refused: status }
  }
}

function backfilled(created: number, all: number): ScheduleActionResult {
  const others = all - created
  const known =
    others === 0 ? '' : ` ${others} had fired already, and ${others === 1 ? 'was' : 'were'} not fired again.`
  const started = created === 1 ? '1 run was started.' : `${created} runs were started.`
  return { changed: created > 0, sentence: `${started}${known}` }
}
