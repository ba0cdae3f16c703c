import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dashboard, toNodeHandler } from '@belay/dashboard'
import { pglite } from '@belay/workflow-postgres/pglite'
import { openShop, WORKFLOWS } from './living-shop.ts'

/** `npm start -- dashboard`: a shop that goes on in an embedded database, and the dashboard on it, until Ctrl-C. */
export async function showDashboard(print: (line: string) => void, stopped: AbortSignal): Promise<void> {
  const shop = await openShop(pglite())
  const handler = dashboard({
    engine: shop.engine,
    workflows: WORKFLOWS,
    title: 'shop · example',
    // Everybody on this machine may do everything with this example.
    authorize: () => ({ by: 'you', can: 'all' }),
  })
  const server = createServer(toNodeHandler(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  print(
    `The dashboard: http://127.0.0.1:${(server.address() as AddressInfo).port}/   (Ctrl-C ends it, and forgets the shop)`,
  )
  await new Promise<void>((resolve) => {
    if (stopped.aborted) resolve()
    stopped.addEventListener('abort', () => resolve())
  })
  server.close()
  server.closeAllConnections()
  await shop.close()
}
