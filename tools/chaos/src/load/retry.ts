/** How all steps of the load are retried. */
export const RETRY = { attempts: 6, backoff: 'constant', initial: '100ms' } as const
