import { bulkOf } from '../actions/bulk.ts'
import { notAllowed } from '../problem.ts'
import { RepairInHand } from '../repairs/in-hand.ts'
import { Repairs } from '../repairs/repairs.ts'
import { capabilityOf, repairActionIn, repairIn } from '../repairs/request.ts'
import { listedRepair, viewOfRepair } from '../repairs/view.ts'
import { definitionFor, runsOf, withRuns } from '../repairs/which.ts'
import { bodyOfWrite } from '../security.ts'
import { type App, assertMay, type Call, queryOf, type Served } from '../served.ts'

/** Repairs many runs. What a process knows of repairs is in its memory, so only their links read the store. */
export function routeRepairs(app: App, served: Served): void {
  const repairs = new Repairs()
  const named = (call: Call) => repairs.get(call.req.param('id') ?? '')
  const answer = async (call: Call, repair: RepairInHand) =>
    Response.json(await viewOfRepair(served, call, { repairs, repair }))
  app
    .get('/api/repairs', (call) => {
      queryOf(call, [])
      return Response.json({ repairs: repairs.list().map(listedRepair) })
    })
    .post(async (call) => answer(call, await asked(call, served, repairs)))
    .all(() => {
      throw notAllowed('GET', 'POST')
    })
  app
    .get('/api/repairs/:id', (call) => {
      queryOf(call, [])
      return answer(call, named(call))
    })
    .all(() => {
      throw notAllowed('GET')
    })
  app
    .post('/api/repairs/:id/actions', async (call) => {
      queryOf(call, [])
      const { action, reason = '' } = repairActionIn(await bodyOfWrite(call.req.raw))
      const repair = named(call)
      assertMay(call, capabilityOf(repair.asked.verb))
      const { by } = call.env
      if (action === 'begin') {
        repairs.assertCanBegin(repair)
        void repair.change({ by, reason }).then(() => served.shared.clear())
      } else repair.stop(by)
      return answer(call, repair)
    })
    .all(() => {
      throw notAllowed('POST')
    })
}

/** A new repair, whose dry run has begun. */
async function asked(call: Call, served: Served, repairs: Repairs): Promise<RepairInHand> {
  queryOf(call, [])
  const body = repairIn(await bodyOfWrite(call.req.raw))
  assertMay(call, capabilityOf(body.verb))
  const request = withRuns(repairs, body)
  const runs = await runsOf(served, request)
  const definition = request.verb === 'move' ? await definitionFor(served, request, runs) : undefined
  const repair = new RepairInHand(request, call.env.by, bulkOf(served.engine, { ...request, definition })!)
  repairs.add(repair)
  void repair.count(runs)
  return repair
}
