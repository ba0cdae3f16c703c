import { BelayError } from '@belay/workflow'

/** Answers what `work` resolves to as JSON, and an error of Belay with its status. */
export async function answer(status: number, work: () => Promise<unknown>): Promise<Response> {
  try {
    return Response.json(await work(), { status })
  } catch (error) {
    if (!BelayError.is(error)) throw error
    return Response.json({ error: error.message }, { status: statusOf(error) })
  }
}

function statusOf({ code }: BelayError): 400 | 404 | 409 | 500 | 503 {
  if (code === 'invalid_input' || code === 'invalid_option') return 400
  if (code === 'unknown_run') return 404
  if (code === 'key_conflict') return 409
  return code === 'store_unavailable' ? 503 : 500
}
