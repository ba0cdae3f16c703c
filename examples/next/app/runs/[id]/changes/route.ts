import { belay } from '../../../../belay.ts'

export async function GET(
  request: Request,
  { params }: RouteContext<'/runs/[id]/changes'>,
): Promise<Response> {
  const { id } = await params
  const { engine, stopping } = belay()
  // The browser has gone, or the server stops.
  const signal = AbortSignal.any([request.signal, stopping.signal])
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    async start(controller) {
      const send = (event: string, data: unknown) =>
        controller.enqueue(encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
      try {
        for await (const change of engine.watch(id, { signal })) send(change.type, change)
        // Without it the browser's EventSource would connect again.
        send('end', {})
      } catch (error) {
        if (!signal.aborted) send('failed', { message: String(error) })
      }
      // A stream whose browser has gone is closed already.
      if (!request.signal.aborted) controller.close()
    },
  })
  // A connection that has carried a stream is not kept: a server that closes would wait for it to time out.
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'close' }
  return new Response(body, { headers })
}
