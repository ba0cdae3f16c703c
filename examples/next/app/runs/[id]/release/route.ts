import { answer } from '../../../../answer.ts'
import { belay } from '../../../../belay.ts'

export async function POST(
  request: Request,
  { params }: RouteContext<'/runs/[id]/release'>,
): Promise<Response> {
  const { id } = await params
  const body = await request.json()
  return answer(200, async () => {
    const receipt = await belay().engine.signal(id, 'released', body)
    return { result: receipt.result }
  })
}
