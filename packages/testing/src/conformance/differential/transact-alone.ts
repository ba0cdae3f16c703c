import type { Adapter, Settlement, SubmittedWork, Transacted } from '@belay/workflow/adapter'

/** Settles a single successful outcome as a transactional step's. The result must be the same as that of `settle`. */
export async function transactAlone(
  adapter: Adapter,
  workerId: string,
  work: SubmittedWork,
): Promise<Settlement> {
  const transacted = await adapter.transact({
    workerId,
    isolation: 'read committed',
    work: async () => work,
  })
  if (transacted.type === 'settled') return transacted.settlement
  switch (transacted.type) {
    case 'conflict':
    case 'unavailable':
    case 'rolled_back':
      throw transacted.error
    default:
      return { results: [resultOf(transacted)], claims: [], runs: [], queued: false }
  }
}

function resultOf(
  transacted: Extract<Transacted, { type: 'lost' | 'refused' | 'unpublished' }>,
): Settlement['results'][number] {
  if (transacted.type === 'lost') return 'lost'
  return { refused: transacted.type === 'refused' ? transacted.reason : JSON.stringify(transacted.results) }
}
