import { readFileSync } from 'node:fs'

export interface Contender {
  readonly name: string
  readonly version: string
  /** The module that exports `createPeer`. */
  readonly module: string
  /** Runs that wait when its worker starts: about ten seconds of work. For pg-boss flows, as many as its one pass a second needs to do best. */
  readonly drainRuns: number
  /** Whether it is one of ours and needs no installation. */
  readonly isBelay: boolean
}

/** Where the peers are installed: outside the workspace, so that only those who ask for them install them. */
export const PEERS_FOLDER = new URL('../../peers/', import.meta.url)

export function contenders({ quick }: { quick: boolean }): readonly Contender[] {
  const pinned = pinnedVersions()
  const size = (drainRuns: number) => (quick ? drainRuns / 10 : drainRuns)
  const peer = (name: string, npm: string, file: string, drainRuns: number): Contender => ({
    name,
    version: pinned[npm] ?? 'unknown',
    module: new URL(`dist/${file}.js`, PEERS_FOLDER).href,
    drainRuns: size(drainRuns),
    isBelay: false,
  })
  return [
    {
      name: 'Belay',
      version: 'this one',
      module: new URL('./belay.js', import.meta.url).href,
      drainRuns: size(20_000),
      isBelay: true,
    },
    peer('DBOS', '@dbos-inc/dbos-sdk', 'dbos', 3_000),
    peer('openworkflow', 'openworkflow', 'openworkflow', 3_000),
    peer('absurd', 'absurd-sdk', 'absurd', 3_000),
    peer('pg-boss flows', 'pg-boss', 'pg-boss-flow', 20_000),
    peer('pg-boss single jobs', 'pg-boss', 'pg-boss', 100_000),
    peer('graphile-worker single jobs', 'graphile-worker', 'graphile-worker', 100_000),
  ]
}

function pinnedVersions(): Readonly<Record<string, string>> {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(new URL('package.json', PEERS_FOLDER), 'utf8'),
  )
  return manifest.dependencies
}
