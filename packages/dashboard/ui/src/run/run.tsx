import type { RunPage } from '../../../src/api.ts'
import { Answer } from '../answer.tsx'
import { useLive } from '../live.ts'
import { RunHeader } from './header.tsx'

/** A run, by its id or one of its names. */
export function RunScreen({ name }: { readonly name: string }) {
  const run = useLive<RunPage>(`runs/${encodeURIComponent(name)}`)
  return <Answer of={run}>{(page: RunPage) => <RunHeader page={page} level="h1" />}</Answer>
}
