import type { Logger } from '../../logger.ts'
import { checkArgument, type Kind, Refusal } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { pauseChange, UNDECLARED } from './change-schedule.ts'
import { checkNamed } from './named-schedules.ts'
import { putSchedule } from './put-schedule.ts'
import { checkSchedule, type DeclaredSchedule } from './schedule-options.ts'
import type { SchedulesParts } from './schedule-parts.ts'

const CALL = 'createEngine()'
/** How many declared schedules are read at once. */
const PAGE = 500

const LIST: Kind<readonly unknown[]> = {
  words: 'an array of schedules, each with a name',
  read: (given) => (Array.isArray(given) ? Array.from(given) : new Refusal(shown(given))),
}

/** Checks the option `schedules`. Throws `invalid_option`. */
export function checkDeclared(given: unknown): readonly DeclaredSchedule[] {
  const declared = checkNamed(CALL, checkArgument(CALL, 'schedules', given, LIST))
  for (const { name, ...schedule } of declared)
    checkSchedule(`${CALL}: schedule ${shown(name)}`, name, schedule, true)
  return declared
}

/**
 * Stores what the code declares. Declared schedules of this engine's workflows that this code does not declare any more are paused, and the log says
 * so: another process may still declare them, and their history stays. One that is declared again goes on. Schedules of other workflows belong to
 * other services.
 */
export async function storeDeclared(
  parts: Omit<SchedulesParts, 'onStarted' | 'onCancelled'> & { readonly log: Logger },
  declared: readonly DeclaredSchedule[],
): Promise<void> {
  for (const { name, ...schedule } of declared)
    await putSchedule(parts, { call: `${CALL}: schedule ${shown(name)}`, name, schedule, declared: true })
  const names = new Set(declared.map(({ name }) => name))
  const own = new Set(parts.settings.workflows.map(({ name }) => name))
  let after: string | undefined
  for (;;) {
    const filter = { declared: true, paused: false, after, limit: PAGE }
    const { schedules } = await parts.adapter.readSchedules(filter)
    const gone = schedules.flatMap(({ name, workflow }) =>
      names.has(name) || !own.has(workflow) ? [] : [name],
    )
    if (gone.length > 0) await pauseAll(parts, gone)
    if (schedules.length < PAGE) return
    after = schedules.at(-1)!.name
  }
}

/** Stores those that the store does not have. */
export async function storeMissing(
  parts: Omit<SchedulesParts, 'onStarted' | 'onCancelled'>,
  declared: readonly DeclaredSchedule[],
): Promise<void> {
  for (let start = 0; start < declared.length; start += PAGE) {
    const part = declared.slice(start, start + PAGE)
    const names = part.map(({ name }) => name)
    const { schedules } = await parts.adapter.readSchedules({ names, limit: names.length })
    const known = new Set(schedules.map(({ name }) => name))
    for (const { name, ...schedule } of part)
      if (!known.has(name))
        await putSchedule(parts, { call: `${CALL}: schedule ${shown(name)}`, name, schedule, declared: true })
  }
}

async function pauseAll(
  { adapter, log }: Pick<SchedulesParts, 'adapter' | 'log'>,
  names: readonly string[],
): Promise<void> {
  const { answers } = await adapter.changeSchedules({
    names,
    decide: (found) => {
      const change = found.schedule?.spec.declared === true ? pauseChange(found, UNDECLARED) : null
      return { change, answer: change !== null }
    },
  })
  for (const { name, answer } of answers)
    if (answer)
      log.warn(
        'A schedule is no longer declared in this code: it is paused. Declare it again, or delete it.',
        {
          schedule: name,
        },
      )
}
