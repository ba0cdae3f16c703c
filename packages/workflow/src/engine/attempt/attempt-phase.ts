/** How a worker got a claim. `found`: the answer was lost, and comparing with the store found it. */
export type ClaimOrigin = 'queue' | 'handed back' | 'undo begun' | 'found'

/** `queued` until its handler is about to be called; `settling` once its outcome is decided. */
export type AttemptPhase = 'queued' | 'running' | 'settling'
