import { answer } from '../../../answer.ts'
import { belay } from '../../../belay.ts'
import { order } from '../../../order.ts'

export async function POST(request: Request, { params }: RouteContext<'/orders/[key]'>): Promise<Response> {
  const { key } = await params
  const body = await request.json()
  return answer(202, async () => {
    const run = await belay().engine.run(order, body, { key })
    return { runId: run.id }
  })
}
