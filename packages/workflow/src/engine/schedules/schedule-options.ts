import type { ScheduleSpec, Timing } from '../../adapter/index.ts'
import { VERSION_MAX } from '../../definition/compile.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Duration } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import type { Instant } from '../../instant.ts'
import {
  anything,
  checkOptions,
  duration,
  instant,
  type Kind,
  type OptionTable,
  oneOf,
  Refusal,
  type SettingsOf,
  string,
  wholeNumber,
} from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { messageOf } from '../../thrown.ts'
import { isDefinition } from '../base/definition-argument.ts'
import { tags } from '../base/tags.ts'
import { cronPattern } from './cron.ts'
import { nextTime } from './timing.ts'
import { isTimeZone } from './wall-clock.ts'

/** When a schedule fires, and what it starts. Give either `cron` or `every`. */
export interface ScheduleOptions {
  /** A pattern of five fields (minute, hour, day, month, weekday), or of six with seconds first, like `'0 3 * * *'`. */
  readonly cron?: string | undefined
  /** The time zone of `cron`, like `'Europe/Zurich'`. Default `'UTC'`. */
  readonly timeZone?: string | undefined
  /** The distance between two firings, 1 s to 3650 days. The first comes that long after the schedule was made. */
  readonly every?: Duration | undefined
  /** A definition or a name. Runs follow its newest stored version unless `version` is given. */
  readonly workflow: WorkflowDefinition | string
  /** The version that its runs follow. Default: the newest stored one, at each firing. */
  readonly version?: number | undefined
  /** The input of each run. */
  readonly input?: unknown
  /** The property of the input, which is then an object, that gets the scheduled time of each firing, as an ISO 8601 string. */
  readonly timeAs?: string | undefined
  /** Tags of its runs, besides `schedule:<name>`. Up to 19. */
  readonly tags?: readonly string[] | undefined
  /**
   * What a firing does while an earlier run of the schedule is live: `skip` starts nothing, `queue` waits for its end, `cancel-running` cancels it,
   * `allow` starts anyway. Default `skip`.
   */
  readonly overlap?: ScheduleSpec['overlap'] | undefined
  /**
   * What happens to times that passed while no worker was there: `none` drops them, `last` fires once for the last, `all` fires for the last 100.
   * Default `last`.
   */
  readonly catchUp?: ScheduleSpec['catchUp'] | undefined
  /** Firings are delayed by up to this, at most 1 day: each by an amount of its own, which does not change. Default 0. */
  readonly jitter?: Duration | undefined
  /** The last instant at which it may fire. Default: none. */
  readonly until?: Instant | undefined
}

/** A schedule and its name. */
export interface NamedSchedule extends ScheduleOptions {
  /** 1 to 200 characters. */
  readonly name: string
}

/** A schedule that is declared in code. */
export type DeclaredSchedule = NamedSchedule

/** The name of a schedule. */
export const scheduleName: Kind<string> = string(1, 200)

const CRON: Kind<string> = {
  words: "a cron pattern of five or six fields, like '0 3 * * *'",
  read(given) {
    if (typeof given !== 'string' || given.length > 200) return new Refusal(shown(given))
    try {
      cronPattern(given)
      return given.trim()
    } catch (error) {
      return new Refusal(`${shown(given)} (${messageOf(error)})`)
    }
  },
}

const TIME_ZONE: Kind<string> = {
  words: "a time zone that this runtime knows, like 'Europe/Zurich'",
  read: (given) => (typeof given === 'string' && isTimeZone(given) ? given : new Refusal(shown(given))),
}

const WORKFLOW: Kind<WorkflowDefinition | string> = {
  words: 'a definition made by define() or defineGraph(), or the name of a workflow',
  read(given) {
    if (isDefinition(given)) return given
    const name = string(1, 128).read(given)
    return Refusal.is(name) ? new Refusal(shown(given)) : name
  },
}

const OPTIONS = {
  cron: { sets: 'when it fires', takes: CRON },
  timeZone: { sets: 'the time zone of the cron pattern', takes: TIME_ZONE },
  every: { sets: 'the distance between two firings', takes: duration('1s', '3650d') },
  workflow: { sets: 'what it starts', takes: WORKFLOW, required: true },
  version: { sets: 'the version that its runs follow', takes: wholeNumber(1, VERSION_MAX) },
  input: { sets: 'the input of its runs', takes: anything },
  timeAs: { sets: 'the property of the input that gets the scheduled time', takes: string(1, 128) },
  tags: { sets: 'the tags of its runs', takes: tags, default: [] },
  overlap: {
    sets: 'what a firing does while an earlier run is live',
    takes: oneOf(['skip', 'queue', 'cancel-running', 'allow']),
    default: 'skip',
  },
  catchUp: {
    sets: 'what happens to times that passed while no worker was there',
    takes: oneOf(['none', 'last', 'all']),
    default: 'last',
  },
  jitter: { sets: 'by how much firings are delayed at most', takes: duration(0, '1d'), default: 0 },
  until: { sets: 'the last instant at which it may fire', takes: instant },
} satisfies OptionTable

/** A checked schedule. `timing` is not final: an `every` begins when the schedule is stored. */
export interface CheckedSchedule {
  readonly name: string
  readonly workflow: WorkflowDefinition | string
  readonly input: unknown
  readonly spec: Omit<ScheduleSpec, 'timing'>
  readonly timing: Timing
}

/** Checks a schedule. Throws `invalid_option`. */
export function checkSchedule(
  call: string,
  name: string,
  options: unknown,
  declared: boolean,
): CheckedSchedule {
  const checked = checkOptions(call, options, OPTIONS)
  const { workflow, version, input, timeAs, overlap, catchUp, jitter, until } = checked
  const problem = problemOf(checked, until)
  if (problem !== undefined) throw new BelayError('invalid_option', `${call}: ${problem}`)
  const spec = {
    ...{ version: version ?? null, overlap, catchUp, jitterMs: Math.floor(jitter), until: until ?? null },
    ...{ tags: checked.tags, timeAs: timeAs ?? null, declared },
  }
  return { name, workflow, input, spec, timing: timingOf(checked) }
}

type Checked = SettingsOf<typeof OPTIONS>

function problemOf(
  { cron, every, timeZone, timeAs, input, tags, workflow, version }: Checked,
  until?: number,
) {
  if (cron === undefined && every === undefined) return 'neither cron nor every is given. Give one of them.'
  if (cron !== undefined && every !== undefined) return 'cron and every are both given. Keep one of them.'
  if (every !== undefined && timeZone !== undefined) return 'timeZone is given, but only cron has one.'
  if (every !== undefined && every < 1_000) return 'every must be at least 1s.'
  if (tags.length > 19)
    return `tags must be up to 19 strings, because the schedule adds one; got ${tags.length}.`
  if (version !== undefined && typeof workflow !== 'string' && workflow.version !== version)
    return `version is ${version}, but the definition has version ${workflow.version}. Leave it out, or give the workflow's name.`
  if (timeAs !== undefined && input !== undefined && !isRecord(input))
    return `timeAs needs an input that is an object; got ${shown(input)}.`
  if (cron !== undefined && nextTime({ cron, timeZone: timeZone ?? 'UTC' }, 0, until ?? null) === null)
    return `cron ${shown(cron)} never fires.`
  return undefined
}

function isRecord(input: unknown): boolean {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

function timingOf({ cron, timeZone = 'UTC', every }: Checked): Timing {
  return cron === undefined ? { everyMs: Math.floor(every!), anchorAt: 0 } : { cron, timeZone }
}
