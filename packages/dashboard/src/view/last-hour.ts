const BUCKET_MS = 300_000
const BUCKETS = 12

/** How many runs ended from one instant to another, in epoch milliseconds. */
type Count = (from: number, until: number) => Promise<number>

/** How many runs ended in a minute, on the average of each five minutes of the last hour. Minutes that have gone do not change: each is counted once, up to the cap of a count. */
export class LastHour {
  readonly #kept = new Map<number, Promise<number>>()

  async ended(count: Count, now: number): Promise<readonly number[]> {
    const newest = Math.floor(now / BUCKET_MS)
    const wanted = Array.from({ length: BUCKETS }, (_, bucket) => newest - BUCKETS + bucket)
    for (const bucket of this.#kept.keys()) if (bucket < wanted[0]!) this.#kept.delete(bucket)
    return Promise.all(wanted.map((bucket) => this.#kept.get(bucket) ?? this.#count(count, bucket)))
  }

  #count(count: Count, bucket: number): Promise<number> {
    const from = bucket * BUCKET_MS
    const counting = count(from, from + BUCKET_MS).then((ended) => Math.round(ended / (BUCKET_MS / 60_000)))
    this.#kept.set(bucket, counting)
    counting.catch(() => this.#kept.delete(bucket))
    return counting
  }
}
