/** `Array.isArray()` that never throws: it throws for a revoked Proxy. */
export function isArray<Item = unknown>(given: unknown): given is readonly Item[] {
  try {
    return Array.isArray(given)
  } catch {
    return false
  }
}
