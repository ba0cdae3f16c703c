import type { RunPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { client, useLive } from '../live.ts'
import { merged } from './merged.ts'

/** A run, live. Once it is there, only its steps that have changed are sent; the others stay the same objects. */
export function useRun(name: string) {
  const path = `runs/${encodeURIComponent(name)}`
  return useLive<RunPage>(path, async (signal) => {
    const seen = client.getQueryData<RunPage>([path])
    if (seen === undefined) return read(path, signal)
    return merged(seen, await read<RunPage>(`${path}?seen=${seen.revision}`, signal))
  })
}
