import type { RunPage } from '../../../src/api.ts'
import { instant } from '../words.ts'

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** A sentence of the engine, which knows no zone, with its instants as all others stand on the page. */
export function withTimes(sentence: string, now = Date.now()): string {
  return sentence.replace(INSTANT, (text) => instant(Date.parse(text), now))
}

/** The same for all sentences of a run's page. */
export function pageWithTimes(page: RunPage): RunPage {
  const told = (sentence: string) => withTimes(sentence, page.run.readAt)
  const open = page.open.map((step) => ({ ...step, sentence: told(step.sentence) }))
  return { ...page, why: told(page.why), open }
}
