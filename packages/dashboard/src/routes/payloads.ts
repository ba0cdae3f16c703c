import type { RunSnapshot } from '@belay/workflow'
import type { Payloads } from '../api.ts'
import type { Place, Settings } from '../options.ts'
import { notAllowed, notFound } from '../problem.ts'
import { type App, assertMay, idIn, queryOf, type Served } from '../served.ts'

export function routePayloads(app: App, served: Served): void {
  app
    .get('/api/runs/:id/payloads', async (call) => {
      assertMay(call, 'payloads.read')
      queryOf(call, [])
      const id = idIn(call)
      const read = async () => {
        const run = await served.engine.runs.get(id)
        if (run === undefined) throw notFound('No run has this id.')
        return payloadsOf(run, served.settings)
      }
      return Response.json(await served.read(call, `payloads ${id}`, read))
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

function payloadsOf({ input, steps, values }: RunSnapshot, { redact }: Settings): Payloads {
  const shown = (payload: unknown, place: Place): string | undefined =>
    payload === undefined
      ? undefined
      : JSON.stringify(redact === undefined ? payload : redact(payload, place), null, 2)
  return {
    input: shown(input, { what: 'input' }),
    steps: steps
      // The step that decides a map's items returns only their number.
      .filter(({ name }) => !name.endsWith('[]'))
      .map(({ name: step, output, error, undo }) => ({
        step,
        output: shown(output, { what: 'output', step }),
        error: shown(undo?.error ?? error, { what: 'error', step }),
      }))
      .filter(({ output, error }) => output !== undefined || error !== undefined),
    values: Object.entries(values).flatMap(([key, given]) => {
      const value = shown(given, { what: 'value', key })
      return value === undefined ? [] : [{ key, value }]
    }),
  }
}
