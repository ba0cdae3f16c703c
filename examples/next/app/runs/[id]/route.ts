import { belay } from '../../../belay.ts'

export async function GET(_request: Request, { params }: RouteContext<'/runs/[id]'>): Promise<Response> {
  const { id } = await params
  const run = await belay().engine.runs.get(id)
  return run === undefined ? new Response(null, { status: 404 }) : Response.json({ status: run.status })
}
