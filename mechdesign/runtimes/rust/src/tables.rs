tables! {}
