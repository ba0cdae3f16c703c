throw new Error('something broke')
