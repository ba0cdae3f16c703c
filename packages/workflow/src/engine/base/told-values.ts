import type { ValueRecord } from '../../adapter/index.ts'
import { fromJsonText } from './payload.ts'

/** How far a step said it was. */
export interface StepProgress {
  readonly done: number
  readonly total: number | undefined
  readonly note: string | undefined
  /** When the step said so. */
  readonly at: Date
}

/** The values of a run, by key. */
export function valuesByKey(values: readonly ValueRecord[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    values.flatMap(({ key, value }) => (key === null ? [] : [[key, fromJsonText(value)]])),
  )
}

/** What a step told last of its progress; undefined if it told nothing. */
export function progressOf(values: readonly ValueRecord[], step: number): StepProgress | undefined {
  const told = values.find((value) => value.key === null && value.step === step)
  return told === undefined ? undefined : stepProgress(told)
}

export function stepProgress({ value, at }: ValueRecord): StepProgress {
  const { done, total, note } = fromJsonText(value) as Omit<StepProgress, 'at'>
  return { done, total, note, at: new Date(at) }
}
