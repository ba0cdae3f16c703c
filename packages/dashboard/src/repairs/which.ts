import type { RunsToChange, WorkflowDefinition } from '@belay/workflow'
import type { RepairRequest } from '../api/many.ts'
import { badRequest } from '../problem.ts'
import { matchingText } from '../runs-query.ts'
import type { Served } from '../served.ts'
import type { Repairs } from './repairs.ts'

/** With the runs that another repair names. */
export function withRuns(repairs: Repairs, { insteadIn, ...asked }: RepairRequest): RepairRequest {
  if (insteadIn === undefined) return asked
  const runs = repairs.get(insteadIn).instead
  if (runs.length === 0) throw badRequest('The refusals of that repair name no other runs.')
  return { ...asked, runs }
}

/** Throws for a filter that the engine does not take: nothing is begun for it. */
export async function runsOf({ engine }: Served, { query, all, runs }: RepairRequest): Promise<RunsToChange> {
  if (runs !== undefined) return runs
  if (all === true) return { all }
  const filter = matchingText(query!)
  if (Object.keys(filter).length === 0) throw badRequest('The filter is empty, and would match every run.')
  await engine.runs.list({ ...filter, limit: 1 })
  return filter
}

/** What the host gave for this version of the runs' one workflow. */
export async function definitionFor(
  { engine, settings: { workflows = [] } }: Served,
  { version }: RepairRequest,
  runs: RunsToChange,
): Promise<WorkflowDefinition> {
  const name = await workflowOf()
  const found = workflows.find((one) => one.name === name && one.version === version)
  if (found !== undefined) return found
  const known = workflows.filter((one) => one.name === name).map((one) => `v${one.version}`)
  throw badRequest(
    `This dashboard has no definition of ${name} v${version}, and a run is moved with its definition. ${known.length === 0 ? 'It has none of this workflow' : `It has ${known.join(', ')}`}: whoever runs it gives them as workflows.`,
  )

  async function workflowOf(): Promise<string> {
    if (Array.isArray(runs)) {
      const [first] = await engine.runs.list({ idPrefix: String(runs[0]), limit: 1 })
      if (first !== undefined) return first.workflow
    } else if ('workflow' in runs && [runs.workflow].flat().length === 1) return [runs.workflow].flat()[0]!
    throw badRequest('Runs of one workflow are moved at a time: give one workflow in the filter.')
  }
}
