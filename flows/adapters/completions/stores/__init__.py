"""Stores of paid replies: files of this machine (`folder`), or a store that machines share (`shared`).

Both keep `records`. A folder has segments that `journal` writes and `index` finds records in; who pays for a
key is settled by `locks`, in a shared store by `claims`.
"""
