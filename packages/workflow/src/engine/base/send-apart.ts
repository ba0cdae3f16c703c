export { sendApart } from '../../adapter/send-apart.ts'
