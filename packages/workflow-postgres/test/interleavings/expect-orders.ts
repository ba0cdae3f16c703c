import { expect, it } from 'vitest'
import { type Exploration, explore, type Failure, type Pair } from './explore.ts'
import type { World } from './world.ts'

/** Something that is wrong and not mended yet. `it.fails` holds it in view: whoever mends it takes the mark away. */
export interface KnownDefect {
  readonly why: string
  /** What failures of it say. All others fail the test. */
  readonly says: RegExp
}

/** A test that runs a pair in every order, and one more for a defect that is known. */
export function itHolds(behaviour: string, pair: Pair, world: () => World, defect?: KnownDefect): void {
  let explored: Promise<Exploration> | undefined
  const failures = async () => {
    explored ??= explore(pair, world())
    const { stopped, failures } = await explored
    // Each caller at its first statement, and inside of it: fewer, and the sessions are not stopped at all.
    if (process.env['ORDER'] === undefined) expect(stopped, 'orders with a stop').toBeGreaterThanOrEqual(4)
    return failures
  }
  const isKnown = ({ message }: Failure) => defect?.says.test(message) === true
  it(`${pair.name}: ${behaviour}`, { timeout: 60_000 }, async () => {
    const unknown = (await failures()).filter((failure) => !isKnown(failure))
    if (unknown.length > 0) expect.fail(report(pair, unknown))
  })
  if (defect === undefined) return
  it.fails(`${pair.name}: ${defect.why}`, { timeout: 60_000 }, async () => {
    const known = (await failures()).filter(isKnown)
    if (known.length > 0) expect.fail(report(pair, known))
  })
}

/** One order for each thing that goes wrong, with the command that runs it alone. */
function report(pair: Pair, failures: readonly Failure[]): string {
  const groups = new Map<string, Failure[]>()
  for (const failure of failures) {
    // Ids differ in each order.
    const what = failure.message.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    groups.set(what, [...(groups.get(what) ?? []), failure])
  }
  const shown = [...groups].map(
    ([what, [{ order, trace } = failures[0]!, ...others]]) =>
      `  ${what}\n    (and ${others.length} more orders like this one:)\n    ORDER='${order}' npx vitest run packages/workflow-postgres/test/interleavings -t '${pair.name}:'\n${trace}`,
  )
  return `${failures.length} orders of ${pair.name} fail:\n${shown.join('\n')}`
}
