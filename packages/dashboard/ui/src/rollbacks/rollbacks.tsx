export function Rollbacks() {
  return <h1>Rollbacks</h1>
}
