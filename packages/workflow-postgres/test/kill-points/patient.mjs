/** Retries come quickly and never end a run: a busy machine may need many. */
export const PATIENT = {
  retry: { attempts: 100, backoff: 'constant', initial: '10ms', jitter: false },
  lossesMax: 100,
}
