/** Invented URLs that no file is sent to or read from; their secret is `canary`. */
export const unsafeAddresses: readonly string[] = [
  'http://storage.example/file?signature=canary', 'file:///etc/passwd', 'ftp://127.0.0.1/file',
  'https://user:canary@storage.example/file?signature=canary', 'https://user:canary@127.0.0.1/file',
  'http://user:canary@127.0.0.1/file', 'not an address',
]; // prettier-ignore
