import type { Engine } from '@belay/workflow'

/** The store's clock: each listed run tells it. In a store without runs nothing depends on it. */
export async function storeNow({ runs }: Engine): Promise<number> {
  const [newest] = await runs.list({ limit: 1 })
  return newest?.readAt.getTime() ?? Date.now()
}
