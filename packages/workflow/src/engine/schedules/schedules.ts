import type { CallerTransaction, FoundSchedule, ScheduleChange, ScheduleRecord } from '../../adapter/index.ts'
import {
  anything,
  checkArgument,
  checkFilter,
  checkOptions,
  note,
  type OptionTable,
  wholeNumber,
  name as workflowName,
  yesOrNo,
} from '../../options/index.ts'
import { type BackfillOptions, type BackfillReport, backfill } from './backfill.ts'
import { pauseChange, resumeChange } from './change-schedule.ts'
import { explainSchedule, type ScheduleExplanation } from './explain-schedule.ts'
import { checkMany } from './named-schedules.ts'
import { type PreviewOptions, preview, type ScheduledTime } from './preview.ts'
import { putSchedule, putSchedules } from './put-schedule.ts'
import { type NamedSchedule, type ScheduleOptions, scheduleName } from './schedule-options.ts'
import { type SchedulesParts, unknownSchedule } from './schedule-parts.ts'
import {
  type ScheduleFiring,
  type ScheduleSnapshot,
  scheduleFiring,
  scheduleSnapshot,
} from './schedule-snapshot.ts'
import { type TriggerOptions, trigger } from './trigger.ts'

/** What makes a change part of a caller's transaction. */
export interface WithinScheduleOptions {
  /** The caller's open transaction on the engine's database: the change is made once it commits. */
  readonly tx?: CallerTransaction | undefined
}

export interface PauseScheduleOptions extends WithinScheduleOptions {
  /** Why, for people. Up to 1,000 characters. */
  readonly reason?: string | undefined
}

export interface SchedulesToList {
  /** Only schedules of this workflow. */
  readonly workflow?: string
  /** Only paused ones, or only others. */
  readonly paused?: boolean
  /** Only those that were declared in code, or only others. */
  readonly declared?: boolean
  /** For paging: the last name of the previous page. */
  readonly after?: string | undefined
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined
}

export interface FiringsToRead {
  /** For paging: the lowest sequence of the previous page. */
  readonly before?: number | undefined
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined
}

const WITHIN = {
  tx: { sets: 'the transaction that the change is part of', takes: anything },
} satisfies OptionTable
const PAUSE = { ...WITHIN, reason: { sets: 'why it is paused', takes: note(1_000) } } satisfies OptionTable
const LIMIT = { sets: 'how many are read at most', takes: wholeNumber(1, 1_000), default: 100 } as const
const LIST = {
  workflow: { sets: 'whose schedules', takes: workflowName, narrows: true },
  paused: { sets: 'whether only paused ones are listed', takes: yesOrNo, narrows: true },
  declared: { sets: 'whether only declared ones are listed', takes: yesOrNo, narrows: true },
  after: { sets: 'the last name of the previous page', takes: scheduleName },
  limit: LIMIT,
} satisfies OptionTable
const HISTORY = {
  before: { sets: 'the lowest sequence of the previous page', takes: wholeNumber(1, 2 ** 31 - 1) },
  limit: LIMIT,
} satisfies OptionTable

/** Schedules that start runs at fixed times. A worker has to run somewhere: any worker fires any schedule. */
export class Schedules {
  readonly #parts: SchedulesParts

  constructor(parts: SchedulesParts) {
    this.#parts = parts
  }

  /**
   * Makes a schedule, or changes the one with this name (1 to 200 characters). A change of its timing lets it begin anew from now; otherwise its next
   * time stays. A paused one stays paused. The input is checked with the schema of the workflow's newest version, if this process has that.
   *
   * @throws BelayError `invalid_option`, `invalid_input`, `unknown_workflow`, `definition_changed`, `payload_unserialisable`, `payload_too_large`, and
   * the store's errors.
   */
  async put(
    name: string,
    schedule: ScheduleOptions,
    options: WithinScheduleOptions = {},
  ): Promise<ScheduleSnapshot> {
    const { tx } = this.#within('schedules.put()', options)
    return putSchedule(this.#parts, { call: 'schedules.put()', name: this.#named('put', name), schedule, tx })
  }

  /**
   * Makes or changes 1 to 1,000 schedules with different names as {@link put} does, all of them in one transaction. Resolves to them in the same order. If one of
   * them is refused, none is stored.
   *
   * @throws BelayError what `put` throws.
   */
  async putMany(
    schedules: readonly NamedSchedule[],
    options: WithinScheduleOptions = {},
  ): Promise<readonly ScheduleSnapshot[]> {
    const { tx } = this.#within('schedules.putMany()', options)
    return putSchedules(this.#parts, checkMany('schedules.putMany()', schedules), tx)
  }

  /** Stops a schedule until `resume()`. Its runs go on. False if it was paused already. Throws `unknown_schedule`. */
  async pause(name: string, options: PauseScheduleOptions = {}): Promise<boolean> {
    this.#parts.assertOpen()
    const { tx, reason } = checkOptions('schedules.pause()', options, PAUSE)
    return this.#change('pause', name, tx, (found) => pauseChange(found, reason ?? null))
  }

  /** Lets a paused schedule go on with its next time; those that passed do not fire. False if it was not paused. Throws `unknown_schedule`. */
  async resume(name: string, options: WithinScheduleOptions = {}): Promise<boolean> {
    const { tx } = this.#within('schedules.resume()', options)
    return this.#change('resume', name, tx, resumeChange)
  }

  /** Deletes a schedule and its history. Its runs go on. False if there is none of this name. */
  async delete(name: string, options: WithinScheduleOptions = {}): Promise<boolean> {
    const { tx } = this.#within('schedules.delete()', options)
    const gone = (found: FoundSchedule): ScheduleChange | null =>
      found.schedule === null ? null : { schedule: null, firings: [], starts: [], cancels: [] }
    return this.#change('delete', name, tx, gone, false)
  }

  /**
   * Fires a schedule now, also a paused one. Its `overlap` applies, unless another one is given. Its next time does not change.
   *
   * @throws BelayError `unknown_schedule`, `invalid_option`, what `run()` throws for its input, and the store's errors.
   */
  async trigger(name: string, options: TriggerOptions = {}): Promise<ScheduleFiring> {
    this.#parts.assertOpen()
    return trigger(this.#parts, this.#named('trigger', name), options)
  }

  /**
   * Starts the runs of times from `from` to `to`, both included, whatever their overlap, up to 1,000. A time that has fired already is not fired again.
   *
   * @throws BelayError `unknown_schedule`, `invalid_option`, what `run()` throws for its input, and the store's errors.
   */
  async backfill(name: string, options: BackfillOptions): Promise<BackfillReport> {
    this.#parts.assertOpen()
    return backfill(this.#parts, this.#named('backfill', name), options)
  }

  /** The next times of a stored schedule, or of one that is only given. Throws `unknown_schedule`, `invalid_option`. */
  async preview(
    schedule: string | Omit<ScheduleOptions, 'workflow' | 'input'>,
    options: PreviewOptions = {},
  ): Promise<readonly ScheduledTime[]> {
    this.#parts.assertOpen()
    return preview(this.#parts.adapter, schedule, options)
  }

  /** A schedule; undefined if there is none of this name. */
  async get(name: string): Promise<ScheduleSnapshot | undefined> {
    this.#parts.assertOpen()
    const found = await this.#find(this.#named('get', name))
    return found === undefined ? undefined : scheduleSnapshot(found)
  }

  /** Schedules in the order of their names, one page at a time. */
  async list(options: SchedulesToList = {}): Promise<readonly ScheduleSnapshot[]> {
    this.#parts.assertOpen()
    const filter = checkFilter('schedules.list()', options, LIST)
    await this.#parts.adapter.open()
    const { schedules } = await this.#parts.adapter.readSchedules(filter)
    return schedules.map(scheduleSnapshot)
  }

  /** The firings of a schedule, newest first. The newest 100 are kept, and those that are not over. */
  async history(name: string, options: FiringsToRead = {}): Promise<readonly ScheduleFiring[]> {
    this.#parts.assertOpen()
    const checked = checkOptions('schedules.history()', options, HISTORY)
    const own = this.#named('history', name)
    await this.#parts.adapter.open()
    return (await this.#parts.adapter.readFirings({ name: own, ...checked })).map(scheduleFiring)
  }

  /** Says what a schedule does next, and what its waiting firings wait for. Throws `unknown_schedule`. */
  async explain(name: string): Promise<ScheduleExplanation> {
    this.#parts.assertOpen()
    await this.#parts.adapter.open()
    return explainSchedule(this.#parts.adapter, this.#named('explain', name))
  }

  #named(verb: string, name: string): string {
    return checkArgument(`schedules.${verb}()`, 'the name', name, scheduleName)
  }

  #within(call: string, options: WithinScheduleOptions): { readonly tx?: unknown } {
    this.#parts.assertOpen()
    return checkOptions(call, options, WITHIN)
  }

  async #change(
    verb: string,
    given: string,
    tx: unknown,
    plan: (found: FoundSchedule) => ScheduleChange | null,
    mustExist = true,
  ): Promise<boolean> {
    const { adapter, onChanged } = this.#parts
    const name = this.#named(verb, given)
    if (tx === undefined) await adapter.open()
    const { answers } = await adapter.changeSchedules(
      {
        names: [name],
        decide: (found) => {
          if (found.schedule === null && mustExist) throw unknownSchedule(`schedules.${verb}()`, name)
          const change = plan(found)
          return { change, answer: change !== null }
        },
      },
      { tx },
    )
    if (tx === undefined) onChanged()
    return answers[0]!.answer
  }

  async #find(name: string): Promise<ScheduleRecord | undefined> {
    await this.#parts.adapter.open()
    return (await this.#parts.adapter.readSchedules({ names: [name], limit: 1 })).schedules[0]
  }
}
