import { type Claim, itemNumber, type RunPayloads, type StepPayloads } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import { branchesOf, type ForwardPayloads, type PayloadSource } from '../base/payload-cache.ts'
import type { EndedItem } from './joined-items.ts'

interface ReadItems {
  readonly items: readonly EndedItem[] | string
  readonly forward: ForwardPayloads
}

/**
 * Reads what the join of a map gathers: the outputs of its items as one text, or its items if they may have failed. The output of the step that
 * decided the items is their number. A map that was skipped has no output, and no items. Undefined if the run does not exist any more.
 */
export async function readItems(
  map: number,
  { claim: { runId }, step: join }: { readonly claim: Claim; readonly step: StepDefinition },
  payloads: PayloadSource,
): Promise<ReadItems | undefined> {
  const branches = join.branch !== null
  const collects = join.map?.part === 'join' && join.map.collects !== null
  const together = collects ? {} : { outputsOf: [map] }
  const opener = await payloads.load({ runId, steps: [map], branches, ...together })
  if (opener === undefined) return undefined
  // Reads of one moment share a call, and its answer.
  const count = Number(opener.steps.find(({ step }) => step === map)!.output)
  const items = collects ? await readEnded(runId, map, count, payloads) : outputsOf(opener, map, count)
  if (items === undefined) return undefined
  return {
    items,
    forward: {
      input: opener.input,
      outputs: [String(count)],
      branches: branches ? branchesOf(opener) : undefined,
    },
  }
}

/** The rows of a read with these numbers, in that order. */
export function byNumber(numbers: readonly number[], { steps }: RunPayloads): readonly StepPayloads[] {
  const found = new Map(steps.map((step) => [step.step, step]))
  return numbers.flatMap((number) => found.get(number) ?? [])
}

async function readEnded(runId: string, map: number, count: number, payloads: PayloadSource) {
  const numbers = Array.from({ length: count }, (_, index) => itemNumber(map, index))
  // With branches, the store tells which have failed.
  const read = await payloads.load({ runId, steps: numbers, branches: true })
  return read === undefined ? undefined : byNumber(numbers, read)
}

function outputsOf({ outputsOf: maps }: RunPayloads, map: number, count: number): string {
  return count === 0 ? '[]' : maps!.find((read) => read.map === map)!.outputs
}
