/** Bounds a wait: rejects after `ms` milliseconds, and names what it waited for. */
export async function within<Value>(promise: Promise<Value>, ms: number, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // biome-ignore lint/style/noRestrictedGlobals: bounds a wait.
    timer = setTimeout(() => reject(new Error(`Waited ${ms} ms in vain for ${what}.`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
