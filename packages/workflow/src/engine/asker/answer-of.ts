import type { JsonText, Outcome, Wake } from '../../adapter/index.ts'
import type { NewItem } from '../../machine/answers.ts'
import { type Answered, type Ask, Json, jsonOf } from '../../owner/index.ts'

export interface Answering {
  readonly ask: Ask
  /** The store’s clock, in epoch milliseconds. */
  readonly now: number
  /** Of a child’s `open`: what is to be started. */
  readonly child?: { readonly id: string } | undefined
}

/** What an outcome answers to what was asked. */
export function answerOf(outcome: Outcome, { ask, now, child }: Answering): Answered {
  const { unit, serial, phase } = ask
  const done = { type: 'done', unit: unit.no, serial } as const
  switch (outcome.type) {
    case 'completed':
      if (phase === 'open') return child === undefined ? { ...done, due: now } : { ...done, child }
      if (phase === 'until') return { ...done, more: false }
      // Which case it is decides what follows, so the machine reads it.
      return { ...done, output: chooses(ask) ? JSON.parse(outcome.output!) : jsonOf(outcome.output) }
    case 'repeated':
      return { ...done, output: jsonOf(outcome.output), more: true, ...begins(now, outcome.delayMs) }
    case 'decided':
      return { ...done, yes: true }
    case 'skipped':
      return { ...done, yes: false }
    case 'expanded':
      return { ...done, items: outcome.items.map(newItem), window: outcome.atOnce }
    case 'waiting':
      return child === undefined ? { ...done, due: dueOf(outcome.wake, now) } : { ...done, child }
    case 'relayed':
      return { ...done, keep: true }
    case 'compensated':
      return done
    case 'released':
      return { type: 'released', unit: unit.no, serial, called: outcome.begun !== false }
    case 'retry':
      return failed(ask, outcome.error, { retryAt: now + outcome.delayMs })
    case 'failed':
      return failed(ask, outcome.error, outcome.succeeded === true ? { succeeded: true } : {})
    case 'compensation_failed':
      return failed(ask, outcome.error, {})
    case 'received':
    case 'enters':
      throw new Error(`No ask is answered by ${outcome.type}.`)
  }
}

function failed(
  { unit, serial }: Ask,
  error: string,
  more: { readonly retryAt?: number; readonly succeeded?: true },
): Answered {
  return { type: 'failed', unit: unit.no, serial, error: new Json(error), ...more }
}

const chooses = ({ unit }: Ask): boolean => (unit.spec as { readonly chooses?: true }).chooses === true

const newItem = ({ key, value }: { readonly key: string; readonly value: JsonText }): NewItem => ({
  key,
  item: jsonOf(value),
})

const begins = (now: number, delayMs: number): { readonly nextAt?: number } =>
  delayMs > 0 ? { nextAt: now + delayMs } : {}

function dueOf(wake: Wake | null, now: number): number | null {
  if (wake === null) return null
  return 'at' in wake ? wake.at : now + wake.afterMs
}
