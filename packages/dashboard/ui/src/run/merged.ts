import type { RunPage } from '../../../src/api.ts'

/** The page that was seen, with what has changed since. */
export function merged(seen: RunPage, page: RunPage): RunPage {
  if (page.since === undefined) return page
  const changed = new Map(page.run.steps.map((step) => [step.name, step]))
  const steps =
    changed.size === 0 ? seen.run.steps : seen.run.steps.map((step) => changed.get(step.name) ?? step)
  return { ...page, since: undefined, run: { ...page.run, steps } }
}
