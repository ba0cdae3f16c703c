import { expect, it } from 'vitest'
import { explore, type Failure, type Pair } from './explore.ts'
import type { World } from './world.ts'

/** A test that runs a pair in every order. */
export function itHolds(behaviour: string, pair: Pair, world: () => World): void {
  it(`${pair.name}: ${behaviour}`, async () => {
    const { stopped, failures } = await explore(pair, world())
    // Each caller stops at least at its first statement and inside it. Fewer stops mean that the sessions are not stopped at all.
    if (process.env['ORDER'] === undefined) expect(stopped, 'orders with a stop').toBeGreaterThanOrEqual(4)
    if (failures.length > 0) expect.fail(report(pair, failures))
  })
}

/** One order for each kind of failure, with the command that runs this order alone. */
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
