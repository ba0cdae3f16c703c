import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Engine } from '@belay/workflow'
import { type Authorized, type DashboardOptions, toNodeHandler } from '../../src/index.ts'
import { opened } from './calls.ts'

export interface Pages {
  /** Ends with a slash. */
  readonly url: string
  readonly stop: () => void
}

/** The dashboard of an engine as browsers find it, for a viewer who may do that. */
export function startPages(
  engine: Engine,
  can: Authorized['can'] = 'all',
  more: Partial<DashboardOptions> = {},
): Promise<Pages> {
  const server = createServer(toNodeHandler(opened({ engine, basePath: '/ops/belay', ...more }, can)))
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ops/belay/`, stop })
    })
  })
}
